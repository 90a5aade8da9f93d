#include "formats/hf_tokenizer_keys.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

// Large vocabularies have 250,000 tokens and twice as many merges; a file of 40 MB.
constexpr JsonLimits kTokenizerLimits{.max_bytes = size_t{256} << 20, .max_values = size_t{16} << 20};
constexpr int64_t kMaxVocabSize = int64_t{1} << 22;
// Ids that no token has, before the last that one has.
constexpr int64_t kMaxGaps = int64_t{1} << 16;

// As tokenizer.ggml.token_type numbers them.
constexpr int64_t kNormal = 1;
constexpr int64_t kUnknown = 2;
constexpr int64_t kControl = 3;
constexpr int64_t kUserDefined = 4;
constexpr int64_t kUnused = 5;
constexpr int64_t kByte = 6;

// A piece that no merge makes is never to be preferred.
constexpr double kScoreOfUnmerged = -1e6;

// Expressions that cut text into words, and what GGUF files call them where words that are tokens are or are not taken
// whole.
struct NamedPattern {
  const char* pattern;
  bool whole_words;
  const char* name;
};
constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kO200kPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kTekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr NamedPattern kNamedPatterns[] = {
    {kQwen2Pattern, false, "qwen2"},  {kLlama3Pattern, true, "llama-bpe"}, {kLlama3Pattern, false, "smaug-bpe"},
    {kO200kPattern, false, "gpt-4o"}, {kTekkenPattern, true, "tekken"},
};

std::string_view StringOf(const Json* value) {
  return value != nullptr && value->AsString() != nullptr ? std::string_view(*value->AsString()) : std::string_view();
}

bool IsTrue(const Json* value) { return value != nullptr && value->AsBool() != nullptr && *value->AsBool(); }

// The elements of a Sequence under `member`, or the one value itself; null and absent give none.
std::vector<const Json*> StepsOf(const Json* value, std::string_view member) {
  if (value == nullptr || value->is_null()) return {};
  if (StringOf(value->Find("type")) != "Sequence") return {value};
  std::vector<const Json*> steps;
  const Json* list = value->Find(member);
  if (list == nullptr || list->AsArray() == nullptr) return {};
  for (const Json& step : *list->AsArray()) steps.push_back(&step);
  return steps;
}

class TokenizerReader {
 public:
  TokenizerReader(const HfFolder& folder, const Json& json)
      : folder_(folder), json_(json), path_(folder.path() + "/tokenizer.json") {}

  Result<GgufValues> Read() {
    const Json* model = json_.Find("model");
    if (model == nullptr || StringOf(model->Find("type")).empty()) return Corrupt("{}: model.type is missing", path_);
    const std::string_view type = StringOf(model->Find("type"));
    if (type != "BPE" && type != "WordPiece") {
      return Unsupported("{}: model.type is {}; GGUF files are written with BPE and WordPiece alone", path_,
                         Quoted(type));
    }
    ADIT_RETURN_IF_ERROR(ReadVocabulary(*model));
    if (type == "WordPiece") {
      ADIT_RETURN_IF_ERROR(SetWordPiece(*model));
      SetTokens();
      return std::move(values_);
    }
    const bool sentencepiece = IsTrue(model->Find("byte_fallback"));
    ADIT_RETURN_IF_ERROR(sentencepiece ? SetSentencePiece(*model) : SetByteLevel(*model));
    SetTokens();
    ADIT_RETURN_IF_ERROR(SetSpecialIds(*model));
    SetString("tokenizer.chat_template", folder_.chat_template());
    return std::move(values_);
  }

 private:
  void SetString(const char* key, std::string_view text) {
    if (!text.empty()) values_[key] = {.type = GgufType::kString, .value = std::string(text)};
  }
  void SetBool(const char* key, bool flag) { values_[key] = {.type = GgufType::kBool, .value = flag}; }

  Status ReadVocabulary(const Json& model);
  Status Place(const std::string& token, const Json& id, int64_t type);
  Result<std::vector<std::pair<std::string, std::string>>> ReadMerges(const Json& model) const;
  Status SetByteLevel(const Json& model);
  Result<std::string> PreTokenizerName(bool whole_words) const;
  Status SetSentencePiece(const Json& model);
  Result<bool> AddsSpacePrefix() const;
  Status SetWordPiece(const Json& model);
  Status SetBertNormalizer();
  void SetId(const char* key, int64_t id) {
    values_[key] = {.type = GgufType::kU32, .value = static_cast<uint64_t>(id)};
  }
  void SetTokens();
  Status SetSpecialIds(const Json& model);
  std::optional<int64_t> IdOf(std::string_view name) const;
  bool AddsAtEnd(std::string_view token, bool first) const;

  const HfFolder& folder_;
  const Json& json_;
  const std::string path_;
  GgufValues values_;
  std::vector<std::string> tokens_;
  std::vector<int64_t> types_;  // 0: no token
  int64_t max_tokens_ = 0;
  std::unordered_map<std::string_view, int64_t> ids_;
};

Status TokenizerReader::Place(const std::string& token, const Json& id, int64_t type) {
  if (id.AsInt() == nullptr || *id.AsInt() < 0 || *id.AsInt() >= max_tokens_) {
    return Corrupt("{}: token {} has no id of 0..{}", path_, Quoted(token), max_tokens_ - 1);
  }
  const auto index = static_cast<size_t>(*id.AsInt());
  if (index >= tokens_.size()) {
    tokens_.resize(index + 1);
    types_.resize(index + 1);
  }
  if (types_[index] != 0 && tokens_[index] != token) {
    return Corrupt("{}: tokens {} and {} both have the id {}", path_, Quoted(tokens_[index]), Quoted(token), index);
  }
  tokens_[index] = token;
  types_[index] = type;
  return Status();
}

Status TokenizerReader::ReadVocabulary(const Json& model) {
  const Json* vocab = model.Find("vocab");
  if (vocab == nullptr || vocab->AsObject() == nullptr) return Corrupt("{}: model.vocab is no object", path_);
  max_tokens_ = std::min(static_cast<int64_t>(vocab->AsObject()->size()) + kMaxGaps, kMaxVocabSize);
  for (const auto& [token, id] : *vocab->AsObject()) ADIT_RETURN_IF_ERROR(Place(token, id, kNormal));
  if (const Json* added = json_.Find("added_tokens"); added != nullptr && added->AsArray() != nullptr) {
    for (const Json& entry : *added->AsArray()) {
      const Json* id = entry.Find("id");
      const Json* content = entry.Find("content");
      if (id == nullptr || StringOf(content).empty()) return Corrupt("{}: an added token has no id or content", path_);
      ADIT_RETURN_IF_ERROR(Place(*content->AsString(), *id, IsTrue(entry.Find("special")) ? kControl : kUserDefined));
    }
  }
  // The table of embeddings may have more rows than there are tokens.
  ADIT_ASSIGN_OR_RETURN(const int64_t rows, folder_.config().IntOr("vocab_size", 0, 0, kMaxVocabSize));
  if (static_cast<int64_t>(tokens_.size()) < rows) {
    tokens_.resize(static_cast<size_t>(rows));
    types_.resize(static_cast<size_t>(rows));
  }
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (types_[i] == 0) {
      tokens_[i] = fmt::format("[PAD{}]", i);
      types_[i] = kUnused;
    } else {
      ids_.emplace(tokens_[i], static_cast<int64_t>(i));
    }
  }
  return Status();
}

// A merge is an array of two pieces, in older files one string with a space between them.
Result<std::vector<std::pair<std::string, std::string>>> TokenizerReader::ReadMerges(const Json& model) const {
  const Json* merges = model.Find("merges");
  if (merges == nullptr || merges->AsArray() == nullptr) return Corrupt("{}: model.merges is no array", path_);
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(merges->AsArray()->size());
  for (const Json& merge : *merges->AsArray()) {
    if (const std::string* text = merge.AsString(); text != nullptr) {
      const size_t space = text->find(' ', 1);
      if (space != std::string::npos) {
        pairs.emplace_back(text->substr(0, space), text->substr(space + 1));
        continue;
      }
    } else if (const Json::Array* pair = merge.AsArray(); pair != nullptr && pair->size() == 2) {
      if ((*pair)[0].AsString() != nullptr && (*pair)[1].AsString() != nullptr) {
        pairs.emplace_back(*(*pair)[0].AsString(), *(*pair)[1].AsString());
        continue;
      }
    }
    return Corrupt("{}: model.merges[{}] is no pair of pieces", path_, pairs.size());
  }
  return pairs;
}

Result<std::string> TokenizerReader::PreTokenizerName(bool whole_words) const {
  const std::vector<const Json*> steps = StepsOf(json_.Find("pre_tokenizer"), "pretokenizers");
  const bool byte_level = !steps.empty() && StringOf(steps.back()->Find("type")) == "ByteLevel" &&
                          !IsTrue(steps.back()->Find("add_prefix_space"));
  const bool splits_itself = byte_level && IsTrue(steps.back()->Find("use_regex"));
  if (steps.size() == 1 && splits_itself) return std::string("gpt-2");
  const std::string_view first = steps.size() == 2 ? StringOf(steps[0]->Find("type")) : std::string_view();
  if (splits_itself && first == "Digits" && IsTrue(steps[0]->Find("individual_digits")))
    return std::string("starcoder");
  if (byte_level && !splits_itself && first == "Split") {
    const Json* pattern = steps[0]->Find("pattern");
    const std::string_view text = pattern == nullptr ? std::string_view() : StringOf(pattern->Find("Regex"));
    for (const NamedPattern& named : kNamedPatterns) {
      if (text == named.pattern && whole_words == named.whole_words) return std::string(named.name);
    }
  }
  return Unsupported("{}: pre_tokenizer is none that GGUF files have a name for in this build", path_);
}

Status TokenizerReader::SetByteLevel(const Json& model) {
  ADIT_ASSIGN_OR_RETURN(const auto merges, ReadMerges(model));
  ADIT_ASSIGN_OR_RETURN(const std::string pre, PreTokenizerName(IsTrue(model.Find("ignore_merges"))));
  SetString("tokenizer.ggml.model", "gpt2");
  SetString("tokenizer.ggml.pre", pre);
  std::vector<std::string> lines;
  lines.reserve(merges.size());
  for (const auto& [left, right] : merges) lines.push_back(left + " " + right);
  values_["tokenizer.ggml.merges"] = {
      .type = GgufType::kArray, .element_type = GgufType::kString, .value = std::move(lines)};
  return Status();
}

Result<bool> TokenizerReader::AddsSpacePrefix() const {
  bool adds = false;
  for (const Json* step : StepsOf(json_.Find("normalizer"), "normalizers")) {
    const std::string_view type = StringOf(step->Find("type"));
    if (type == "Prepend") {
      adds = true;
    } else if (type != "Replace") {
      return Unsupported("{}: normalizer {} has no place in a GGUF file", path_, Quoted(type));
    }
  }
  for (const Json* step : StepsOf(json_.Find("pre_tokenizer"), "pretokenizers")) {
    const std::string_view type = StringOf(step->Find("type"));
    // Splitting at spaces that the normalizer has replaced does nothing.
    if (type == "Split") continue;
    if (type != "Metaspace")
      return Unsupported("{}: pre_tokenizer {} has no place in a GGUF file", path_, Quoted(type));
    const std::string_view scheme = StringOf(step->Find("prepend_scheme"));
    adds =
        adds || scheme == "always" || scheme == "first" || (scheme.empty() && IsTrue(step->Find("add_prefix_space")));
  }
  return adds;
}

// Pieces join by the best score, here that of the rank at which BPE would join them.
Status TokenizerReader::SetSentencePiece(const Json& model) {
  ADIT_ASSIGN_OR_RETURN(const auto merges, ReadMerges(model));
  std::vector<double> scores(tokens_.size(), kScoreOfUnmerged);
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto joined = ids_.find(merges[rank].first + merges[rank].second);
    if (joined == ids_.end()) {
      return Corrupt("{}: model.merges[{}] makes {}, which is no token", path_, rank,
                     Quoted(merges[rank].first + merges[rank].second));
    }
    double& score = scores[static_cast<size_t>(joined->second)];
    score = std::max(score, -static_cast<double>(rank));
  }
  const std::string_view unknown = StringOf(model.Find("unk_token"));
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& token = tokens_[i];
    if (token == unknown) types_[i] = kUnknown;
    if (types_[i] == kNormal && token.size() == 6 && token.starts_with("<0x") && token.ends_with(">"))
      types_[i] = kByte;
  }
  SetString("tokenizer.ggml.model", "llama");
  SetString("tokenizer.ggml.pre", "default");
  values_["tokenizer.ggml.scores"] = {
      .type = GgufType::kArray, .element_type = GgufType::kF32, .value = std::move(scores)};
  ADIT_ASSIGN_OR_RETURN(const bool space_prefix, AddsSpacePrefix());
  SetBool("tokenizer.ggml.add_space_prefix", space_prefix);
  return Status();
}

// GGUF has keys for two of its four settings, and no other value of the others.
Status TokenizerReader::SetBertNormalizer() {
  const Json* normalizer = json_.Find("normalizer");
  const Json* splitter = json_.Find("pre_tokenizer");
  const std::string_view type = normalizer == nullptr ? std::string_view() : StringOf(normalizer->Find("type"));
  if (type != "BertNormalizer" || !IsTrue(normalizer->Find("clean_text")) ||
      !IsTrue(normalizer->Find("handle_chinese_chars"))) {
    return Unsupported(
        "{}: normalizer {} has no place in a GGUF file with WordPiece; BertNormalizer with clean_text "
        "and handle_chinese_chars has",
        path_, Quoted(type));
  }
  if (splitter == nullptr || StringOf(splitter->Find("type")) != "BertPreTokenizer") {
    return Unsupported("{}: pre_tokenizer is no BertPreTokenizer, which GGUF files with WordPiece have", path_);
  }
  const bool lowercase = IsTrue(normalizer->Find("lowercase"));
  const Json* strips = normalizer->Find("strip_accents");
  SetBool("tokenizer.ggml.normalizer.lowercase", lowercase);
  SetBool("tokenizer.ggml.normalizer.strip_accents",
          strips == nullptr || strips->is_null() ? lowercase : IsTrue(strips));
  return Status();
}

// Pieces that begin a word have the mark before them, and those that go on have none.
Status TokenizerReader::SetWordPiece(const Json& model) {
  ADIT_RETURN_IF_ERROR(SetBertNormalizer());
  if (StringOf(model.Find("continuing_subword_prefix")) != "##") {
    return Unsupported("{}: model.continuing_subword_prefix is {}, in GGUF files it is \"##\"", path_,
                       Quoted(StringOf(model.Find("continuing_subword_prefix"))));
  }
  const auto id_of = [this](const char* role, std::string_view usual) {
    std::optional<int64_t> id = IdOf(role);
    if (const auto found = ids_.find(usual); !id && found != ids_.end()) id = found->second;
    return id;
  };
  const std::optional<int64_t> cls = id_of("cls", "[CLS]");
  const std::optional<int64_t> sep = id_of("sep", "[SEP]");
  const auto unknown = ids_.find(StringOf(model.Find("unk_token")));
  if (!cls || !sep || unknown == ids_.end()) {
    return Corrupt("{}: the vocabulary lacks {}, which WordPiece of GGUF files needs", path_,
                   !cls   ? "cls_token"
                   : !sep ? "sep_token"
                          : "model.unk_token");
  }
  SetString("tokenizer.ggml.model", "bert");
  SetString("tokenizer.ggml.pre", "bert-bge");
  SetId("tokenizer.ggml.bos_token_id", *cls);
  SetId("tokenizer.ggml.eos_token_id", *sep);
  SetId("tokenizer.ggml.seperator_token_id", *sep);
  SetId("tokenizer.ggml.unknown_token_id", unknown->second);
  if (const auto pad = id_of("pad", "[PAD]")) SetId("tokenizer.ggml.padding_token_id", *pad);
  if (const auto mask = id_of("mask", "[MASK]")) SetId("tokenizer.ggml.mask_token_id", *mask);
  SetBool("tokenizer.ggml.add_bos_token", true);
  SetBool("tokenizer.ggml.add_eos_token", true);
  ADIT_ASSIGN_OR_RETURN(const int64_t num_types, folder_.config().IntOr("type_vocab_size", 2, 1, kMaxVocabSize));
  SetId("tokenizer.ggml.token_type_count", num_types);
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (types_[i] != kNormal) continue;
    tokens_[i] = tokens_[i].starts_with("##") ? tokens_[i].substr(2) : "\u2581" + tokens_[i];
  }
  return Status();
}

void TokenizerReader::SetTokens() {
  values_["tokenizer.ggml.tokens"] = {.type = GgufType::kArray, .element_type = GgufType::kString, .value = tokens_};
  values_["tokenizer.ggml.token_type"] = {.type = GgufType::kArray, .element_type = GgufType::kI32, .value = types_};
}

// `name` of tokenizer_config.json is a string, or an added token with its content.
std::optional<int64_t> TokenizerReader::IdOf(std::string_view name) const {
  const JsonFields config = folder_.tokenizer_config();
  if (const Json* token = config.Find(fmt::format("{}_token", name)); token != nullptr) {
    const Json* content = token->AsString() != nullptr ? token : token->Find("content");
    const auto found = ids_.find(StringOf(content));
    if (found != ids_.end()) return found->second;
  }
  const JsonFields model = folder_.config();
  const Json* id = model.Find(fmt::format("{}_token_id", name));
  // Some models end in more than one way; the first is the end of a text.
  if (id != nullptr && id->AsArray() != nullptr && !id->AsArray()->empty()) id = &id->AsArray()->front();
  if (id == nullptr || id->AsInt() == nullptr) return std::nullopt;
  const int64_t number = *id->AsInt();
  if (number < 0 || number >= static_cast<int64_t>(tokens_.size())) return std::nullopt;
  return number;
}

// Whether the post-processor's template for one text begins (or ends) with `token`.
bool TokenizerReader::AddsAtEnd(std::string_view token, bool first) const {
  for (const Json* step : StepsOf(json_.Find("post_processor"), "processors")) {
    const Json* single = step->Find("single");
    if (single == nullptr || single->AsArray() == nullptr || single->AsArray()->empty()) continue;
    const Json* special = (first ? single->AsArray()->front() : single->AsArray()->back()).Find("SpecialToken");
    if (special != nullptr && StringOf(special->Find("id")) == token) return true;
  }
  return false;
}

Status TokenizerReader::SetSpecialIds(const Json& model) {
  const auto set = [&](const char* name, const char* key) {
    const std::optional<int64_t> id = IdOf(name);
    if (id) values_[key] = {.type = GgufType::kU32, .value = static_cast<uint64_t>(*id)};
    return id;
  };
  const std::optional<int64_t> bos = set("bos", "tokenizer.ggml.bos_token_id");
  const std::optional<int64_t> eos = set("eos", "tokenizer.ggml.eos_token_id");
  set("pad", "tokenizer.ggml.padding_token_id");
  if (const auto unknown = ids_.find(StringOf(model.Find("unk_token"))); unknown != ids_.end()) {
    values_["tokenizer.ggml.unknown_token_id"] = {.type = GgufType::kU32,
                                                  .value = static_cast<uint64_t>(unknown->second)};
  }
  const auto text = [this](int64_t id) { return std::string_view(tokens_[static_cast<size_t>(id)]); };
  SetBool("tokenizer.ggml.add_bos_token", bos && AddsAtEnd(text(*bos), /*first=*/true));
  SetBool("tokenizer.ggml.add_eos_token", eos && AddsAtEnd(text(*eos), /*first=*/false));
  return Status();
}

}  // namespace

Result<GgufValues> HfTokenizerKeys(const HfFolder& folder) {
  if (!folder.HasFile("tokenizer.json")) return NotFound("{}: no tokenizer.json in this folder", folder.path());
  ADIT_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(folder.path() + "/tokenizer.json"));
  return HfTokenizerKeys(folder, {reinterpret_cast<const char*>(file.bytes().data()), file.size_bytes()});
}

Result<GgufValues> HfTokenizerKeys(const HfFolder& folder, std::string_view tokenizer) {
  ADIT_ASSIGN_OR_RETURN(const Json json, Json::Parse(tokenizer, folder.path() + "/tokenizer.json", kTokenizerLimits));
  return TokenizerReader(folder, json).Read();
}

}  // namespace adit::formats
