#include "tokenizer/gguf_tokenizer_json.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/quoted.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/space_mark.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/vocabulary.h"

namespace adit::tokenizer {
namespace {

using formats::GgufMetadata;
using formats::Json;

Json JsonWord(std::string_view text) { return Json(std::string(text)); }

// A step of a pipeline: its type and what else it says.
Json StepJson(std::string_view type, Json::Object members = {}) {
  members.insert(members.begin(), {"type", JsonWord(type)});
  return Json(std::move(members));
}

Json SequenceJson(std::string_view member, Json::Array steps) {
  return StepJson("Sequence", {{std::string(member), Json(std::move(steps))}});
}

Json ByteLevelStep(bool use_regex) {
  return StepJson("ByteLevel",
                  {{"add_prefix_space", Json(false)}, {"trim_offsets", Json(true)}, {"use_regex", Json(use_regex)}});
}

Json SplitStep(std::string_view pattern) {
  return StepJson("Split", {{"pattern", Json(Json::Object{{"Regex", JsonWord(pattern)}})},
                            {"behavior", JsonWord("Isolated")},
                            {"invert", Json(false)}});
}

Json ReplaceStep(std::string_view from, std::string_view to) {
  return StepJson("Replace", {{"pattern", Json(Json::Object{{"String", JsonWord(from)}})}, {"content", JsonWord(to)}});
}

class TokenizerJsonWriter {
 public:
  TokenizerJsonWriter(const GgufMetadata& metadata, Vocabulary vocabulary, SpecialTokens special)
      : metadata_(metadata), vocabulary_(std::move(vocabulary)), special_(std::move(special)) {}

  Result<Json> Write(bool is_sentencepiece);

 private:
  std::string Piece(int32_t id) const { return std::string(vocabulary_.pieces[id]); }
  // What stands for an id that no token has.
  bool IsGap(int32_t id) const {
    return vocabulary_.Type(id) == TokenType::kUnused && Piece(id) == fmt::format("[PAD{}]", id);
  }
  Json AddedTokens() const;
  Json VocabularyMap() const;
  Json PostProcessor(bool is_sentencepiece) const;
  Result<Json> PreTokenizerSteps(const PreTokenizer& pre) const;
  Result<Json> ByteLevelModel(const PreTokenizer& pre) const;
  Json SentencePieceModel(const std::vector<float>& scores) const;
  Json::Array MergesByScore(const std::vector<float>& scores) const;
  Json Model(Json merges, bool byte_fallback, bool ignore_merges) const;

  const GgufMetadata& metadata_;
  const Vocabulary vocabulary_;
  const SpecialTokens special_;
};

// Control tokens, and those that are found in texts whole.
Json TokenizerJsonWriter::AddedTokens() const {
  Json::Array tokens;
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    const bool is_special = vocabulary_.IsHidden(id);
    if (!is_special && vocabulary_.Type(id) != TokenType::kUserDefined) continue;
    if (vocabulary_.pieces[id].empty()) continue;
    tokens.push_back(Json(Json::Object{{"id", Json(int64_t{id})},
                                       {"content", Json(Piece(id))},
                                       {"single_word", Json(false)},
                                       {"lstrip", Json(false)},
                                       {"rstrip", Json(false)},
                                       {"normalized", Json(false)},
                                       {"special", Json(is_special)}}));
  }
  return Json(std::move(tokens));
}

// All of them, the added ones too: readers number added tokens that are not here one after another.
Json TokenizerJsonWriter::VocabularyMap() const {
  Json::Object map;
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    if (!vocabulary_.pieces[id].empty() && !IsGap(id)) map.emplace_back(Piece(id), Json(int64_t{id}));
  }
  return Json(std::move(map));
}

Json TokenizerJsonWriter::Model(Json merges, bool byte_fallback, bool ignore_merges) const {
  return StepJson("BPE", {{"dropout", Json()},
                          {"unk_token", byte_fallback && special_.unknown ? Json(Piece(*special_.unknown)) : Json()},
                          {"continuing_subword_prefix", Json()},
                          {"end_of_word_suffix", Json()},
                          {"fuse_unk", Json(byte_fallback)},
                          {"byte_fallback", Json(byte_fallback)},
                          {"ignore_merges", Json(ignore_merges)},
                          {"vocab", VocabularyMap()},
                          {"merges", std::move(merges)}});
}

Result<Json> TokenizerJsonWriter::PreTokenizerSteps(const PreTokenizer& pre) const {
  if (pre.split == SplitGpt2) return ByteLevelStep(/*use_regex=*/true);
  Json::Array steps;
  if (pre.split == SplitDigitsThenGpt2) {
    steps.push_back(StepJson("Digits", {{"individual_digits", Json(true)}}));
    steps.push_back(ByteLevelStep(/*use_regex=*/true));
    return SequenceJson("pretokenizers", std::move(steps));
  }
  if (pre.split != nullptr) {
    const std::string_view pattern = SplitPattern::PatternOf(pre.split);
    if (pattern.empty()) {
      return Unsupported("gguf: {}: tokenizer.ggml.pre '{}' is no regular expression that a tokenizer.json could hold",
                         metadata_.path(), pre.name);
    }
    steps.push_back(SplitStep(pattern));
  }
  for (const std::string_view pattern : pre.patterns) steps.push_back(SplitStep(pattern));
  steps.push_back(ByteLevelStep(/*use_regex=*/false));
  return SequenceJson("pretokenizers", std::move(steps));
}

Result<Json> TokenizerJsonWriter::ByteLevelModel(const PreTokenizer& pre) const {
  ADIT_ASSIGN_OR_RETURN(const std::span<const std::string> lines, metadata_.GetStrings("tokenizer.ggml.merges"));
  Json::Array merges;
  for (const std::string& line : lines) {
    const size_t space = line.find(' ', 1);
    if (space == std::string::npos) {
      return Corrupt("gguf: {}: tokenizer.ggml.merges: {} is no pair", metadata_.path(), formats::Quoted(line));
    }
    merges.push_back(Json(Json::Array{Json(line.substr(0, space)), Json(line.substr(space + 1))}));
  }
  return Model(Json(std::move(merges)), /*byte_fallback=*/false, pre.whole_words);
}

// Each piece is the merge of all pairs that it falls into, pieces of better scores first.
Json::Array TokenizerJsonWriter::MergesByScore(const std::vector<float>& scores) const {
  const auto is_text = [this](int32_t id) { return vocabulary_.Type(id) == TokenType::kNormal; };
  const auto find = [&](std::string_view piece) {
    const int32_t id = vocabulary_.pieces.Find(piece);
    return id >= 0 && is_text(id) ? std::optional(id) : std::nullopt;
  };
  std::vector<int32_t> order;
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    if (is_text(id)) order.push_back(id);
  }
  std::ranges::stable_sort(order, std::greater<>(), [&](int32_t id) { return scores[static_cast<size_t>(id)]; });
  Json::Array merges;
  for (const int32_t id : order) {
    const std::string_view piece = vocabulary_.pieces[id];
    std::vector<std::pair<int32_t, int32_t>> pairs;
    for (size_t at = 1; at < piece.size(); ++at) {
      const std::optional<int32_t> left = find(piece.substr(0, at));
      const std::optional<int32_t> right = find(piece.substr(at));
      if (left && right) pairs.emplace_back(*left, *right);
    }
    std::ranges::sort(pairs);
    for (const auto& [left, right] : pairs) {
      merges.push_back(Json(Json::Array{Json(Piece(left)), Json(Piece(right))}));
    }
  }
  return merges;
}

Json TokenizerJsonWriter::SentencePieceModel(const std::vector<float>& scores) const {
  return Model(Json(MergesByScore(scores)), /*byte_fallback=*/true, /*ignore_merges=*/false);
}

Json TokenizerJsonWriter::PostProcessor(bool is_sentencepiece) const {
  if (!special_.add_bos() && !special_.add_eos()) {
    return is_sentencepiece ? Json() : ByteLevelStep(/*use_regex=*/true);
  }
  Json::Object tokens;
  const auto token = [&](int32_t id) {
    const std::string piece = Piece(id);
    tokens.emplace_back(piece, Json(Json::Object{{"id", Json(piece)},
                                                 {"ids", Json(Json::Array{Json(int64_t{id})})},
                                                 {"tokens", Json(Json::Array{Json(piece)})}}));
    return Json(Json::Object{{"SpecialToken", Json(Json::Object{{"id", Json(piece)}, {"type_id", Json(int64_t{0})}})}});
  };
  const auto text = [](const char* name, int64_t type) {
    return Json(Json::Object{{"Sequence", Json(Json::Object{{"id", JsonWord(name)}, {"type_id", Json(type)}})}});
  };
  Json::Array single;
  Json::Array pair;
  if (special_.add_bos()) single.push_back(token(*special_.bos));
  single.push_back(text("A", 0));
  if (special_.add_eos()) single.push_back(token(*special_.eos));
  pair = single;
  pair.push_back(text("B", 1));
  return StepJson("TemplateProcessing", {{"single", Json(std::move(single))},
                                         {"pair", Json(std::move(pair))},
                                         {"special_tokens", Json(std::move(tokens))}});
}

Result<Json> TokenizerJsonWriter::Write(bool is_sentencepiece) {
  Json normalizer;
  Json pre_tokenizer;
  Json decoder = ByteLevelStep(/*use_regex=*/true);
  Json model;
  if (is_sentencepiece) {
    ADIT_ASSIGN_OR_RETURN(const std::vector<float> scores, metadata_.GetFloats("tokenizer.ggml.scores"));
    if (static_cast<int64_t>(scores.size()) != vocabulary_.size()) {
      return Corrupt("gguf: {}: tokenizer.ggml.scores has {} entries, wanted {}", metadata_.path(), scores.size(),
                     vocabulary_.size());
    }
    ADIT_ASSIGN_OR_RETURN(const bool prefix, metadata_.BoolOr("tokenizer.ggml.add_space_prefix", true));
    normalizer = ReplaceStep(" ", kSpaceMark);
    Json::Array steps{ReplaceStep(kSpaceMark, " "), StepJson("ByteFallback"), StepJson("Fuse")};
    if (prefix) {
      normalizer = SequenceJson("normalizers", {StepJson("Prepend", {{"prepend", JsonWord(kSpaceMark)}}), normalizer});
      steps.push_back(
          StepJson("Strip", {{"content", JsonWord(" ")}, {"start", Json(int64_t{1})}, {"stop", Json(int64_t{0})}}));
    }
    decoder = SequenceJson("decoders", std::move(steps));
    model = SentencePieceModel(scores);
  } else {
    ADIT_ASSIGN_OR_RETURN(const std::string_view name, metadata_.StringOr("tokenizer.ggml.pre", "default"));
    const PreTokenizer* pre = FindPreTokenizer(name);
    if (pre == nullptr) {
      return Unsupported("gguf: {}: tokenizer.ggml.pre is {}", metadata_.path(), formats::Quoted(std::string(name)));
    }
    ADIT_ASSIGN_OR_RETURN(pre_tokenizer, PreTokenizerSteps(*pre));
    ADIT_ASSIGN_OR_RETURN(model, ByteLevelModel(*pre));
  }
  return Json(Json::Object{{"version", JsonWord("1.0")},
                           {"truncation", Json()},
                           {"padding", Json()},
                           {"added_tokens", AddedTokens()},
                           {"normalizer", std::move(normalizer)},
                           {"pre_tokenizer", std::move(pre_tokenizer)},
                           {"post_processor", PostProcessor(is_sentencepiece)},
                           {"decoder", std::move(decoder)},
                           {"model", std::move(model)}});
}

// Which of the two kinds it is, and whether a text begins with BOS where the file does not say.
Result<std::pair<bool, SpecialDefaults>> KindOf(const GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view model, metadata.GetString("tokenizer.ggml.model"));
  if (model == "llama") return std::pair(true, SpecialDefaults{.add_bos = true});
  if (model != "gpt2") {
    return Unsupported("gguf: {}: tokenizer.ggml.model is {}; this build writes tokenizer.json of gpt2 and llama",
                       metadata.path(), formats::Quoted(std::string(model)));
  }
  ADIT_ASSIGN_OR_RETURN(const std::string_view name, metadata.StringOr("tokenizer.ggml.pre", "default"));
  const PreTokenizer* pre = FindPreTokenizer(name);
  return std::pair(false, SpecialDefaults{.add_bos = pre != nullptr && pre->adds_bos});
}

}  // namespace

Result<Json> TokenizerJsonOfGguf(const GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(const auto kind, KindOf(metadata));
  ADIT_ASSIGN_OR_RETURN(Vocabulary vocabulary, LoadVocabulary(metadata));
  ADIT_ASSIGN_OR_RETURN(SpecialTokens special, LoadSpecialTokens(metadata, vocabulary, kind.second));
  return TokenizerJsonWriter(metadata, std::move(vocabulary), std::move(special)).Write(kind.first);
}

Result<Json> TokenizerConfigOfGguf(const GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(const auto kind, KindOf(metadata));
  ADIT_ASSIGN_OR_RETURN(const Vocabulary vocabulary, LoadVocabulary(metadata));
  ADIT_ASSIGN_OR_RETURN(const SpecialTokens special, LoadSpecialTokens(metadata, vocabulary, kind.second));
  Json::Object members{{"tokenizer_class", JsonWord("PreTrainedTokenizerFast")},
                       {"clean_up_tokenization_spaces", Json(false)},
                       {"add_bos_token", Json(special.add_bos())},
                       {"add_eos_token", Json(special.add_eos())}};
  const auto add = [&](const char* member, std::optional<int32_t> id) {
    if (id) members.emplace_back(member, Json(std::string(vocabulary.pieces[*id])));
  };
  add("bos_token", special.bos);
  add("eos_token", special.eos);
  add("unk_token", special.unknown);
  ADIT_ASSIGN_OR_RETURN(const int64_t pad, metadata.IntOr("tokenizer.ggml.padding_token_id", -1));
  if (pad >= 0 && pad < vocabulary.size()) add("pad_token", static_cast<int32_t>(pad));
  return Json(std::move(members));
}

}  // namespace adit::tokenizer
