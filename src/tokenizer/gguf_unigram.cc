#include "tokenizer/gguf_unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/utf8.h"
#include "tokenizer/space_mark.h"
#include "tokenizer/text_tokens.h"

namespace adit::tokenizer {
namespace {

using formats::GgufMetadata;

constexpr std::string_view kCharsmapKey = "tokenizer.ggml.precompiled_charsmap";

Result<std::vector<double>> LoadScores(const GgufMetadata& metadata, const Vocabulary& vocabulary) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<float> scores, metadata.GetFloats(kScoresKey));
  if (static_cast<int64_t>(scores.size()) != vocabulary.size()) {
    return Corrupt("gguf: {}: key '{}' has {} entries, wanted {}, one for each token", metadata.path(), kScoresKey,
                   scores.size(), vocabulary.size());
  }
  std::vector<double> out;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i])) {
      return Corrupt("gguf: {}: key '{}': entry {} is not a finite number", metadata.path(), kScoresKey, i);
    }
    // A user-defined token is more likely than any other.
    const bool user_defined = vocabulary.Type(static_cast<int32_t>(i)) == TokenType::kUserDefined;
    out.push_back(user_defined ? 0.0 : double{scores[i]});
  }
  return out;
}

// Below the lowest score of any normal token, in the precision of the file.
double UnknownScore(const Vocabulary& vocabulary, const std::vector<double>& scores) {
  constexpr float kPenalty = 10;
  float lowest = std::numeric_limits<float>::max();
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.Type(id) == TokenType::kNormal) {
      lowest = std::min(lowest, static_cast<float>(scores[static_cast<size_t>(id)]));
    }
  }
  return double{lowest - kPenalty};
}

// An array of INT8 or UINT8; empty if there is none.
Result<std::string> LoadCharsmapBytes(const GgufMetadata& metadata) {
  std::string bytes;
  const formats::GgufValue* const found = metadata.Find(kCharsmapKey);
  if (found == nullptr) return bytes;
  const bool is_bytes = found->element_type == formats::GgufType::kU8 || found->element_type == formats::GgufType::kI8;
  if (const auto* plain = std::get_if<std::vector<uint64_t>>(&found->value); plain != nullptr && is_bytes) {
    for (const uint64_t value : *plain) bytes += static_cast<char>(value);
  } else if (const auto* numbers = std::get_if<std::vector<int64_t>>(&found->value); numbers != nullptr && is_bytes) {
    for (const int64_t value : *numbers) bytes += static_cast<char>(value);
  } else {
    return Corrupt("gguf: {}: key '{}' is not an array of INT8 or UINT8", metadata.path(), kCharsmapKey);
  }
  return bytes;
}

}  // namespace

Result<GgufUnigram::Options> GgufUnigram::LoadOptions(const GgufMetadata& metadata) {
  Options options;
  ADIT_ASSIGN_OR_RETURN(options.add_space_prefix, metadata.BoolOr("tokenizer.ggml.add_space_prefix", false));
  ADIT_ASSIGN_OR_RETURN(options.merge_spaces, metadata.BoolOr("tokenizer.ggml.remove_extra_whitespaces", false));
  ADIT_ASSIGN_OR_RETURN(options.escape_spaces, metadata.BoolOr("tokenizer.ggml.escape_whitespaces", true));
  ADIT_ASSIGN_OR_RETURN(options.space_as_suffix, metadata.BoolOr("tokenizer.ggml.treat_whitespace_as_suffix", false));
  ADIT_ASSIGN_OR_RETURN(const std::string bytes, LoadCharsmapBytes(metadata));
  if (bytes.empty()) return options;
  ADIT_ASSIGN_OR_RETURN(options.charsmap, Charsmap::Parse(bytes, "gguf: " + metadata.path() + ": key '" +
                                                                     std::string(kCharsmapKey) + "'"));
  return options;
}

Result<std::unique_ptr<Tokenizer>> GgufUnigram::Load(const GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(Vocabulary vocabulary, LoadVocabulary(metadata));
  ADIT_ASSIGN_OR_RETURN(SpecialTokens special, LoadSpecialTokens(metadata, vocabulary, {.add_eos = true}));
  ADIT_ASSIGN_OR_RETURN(std::vector<double> scores, LoadScores(metadata, vocabulary));
  ADIT_ASSIGN_OR_RETURN(Options options, LoadOptions(metadata));
  UnigramOptions model_options;
  model_options.unknown = special.unknown.value_or(-1);
  model_options.unknown_score = UnknownScore(vocabulary, scores);
  UnigramModel model(TextTokens(vocabulary), std::move(scores), std::move(model_options));
  DecodeTable texts = MarkedTexts(vocabulary, options.add_space_prefix && !options.space_as_suffix);
  SpecialMatcher matcher = MatcherByType(vocabulary);
  return std::unique_ptr<Tokenizer>(
      new GgufUnigram({std::move(vocabulary), std::move(special), std::move(texts), std::move(matcher)},
                      std::move(options), std::move(model)));
}

GgufUnigram::GgufUnigram(Parts parts, Options options, UnigramModel model)
    : VocabularyTokenizer(std::move(parts)), options_(std::move(options)), model_(std::move(model)) {}

std::string GgufUnigram::Normalized(std::string_view text) const {
  const std::string_view space = options_.escape_spaces ? kSpaceMark : " ";
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  bool in_word = false;
  bool prefix_due = options_.add_space_prefix && !options_.space_as_suffix;
  while (!text.empty()) {
    const auto rule = options_.charsmap ? options_.charsmap->Longest(text) : std::nullopt;
    const size_t length = rule ? rule->length : DecodeUtf8(text).length;
    for (const char c : rule ? rule->replacement : text.substr(0, length)) {
      if (c == ' ') {
        in_word = false;
        if (!options_.merge_spaces) out.append(space);
        continue;
      }
      if (!in_word && (prefix_due || options_.merge_spaces)) {
        out.append(space);
        prefix_due = false;
      }
      in_word = true;
      out += c;
    }
    text.remove_prefix(length);
  }
  if (options_.space_as_suffix && options_.add_space_prefix) out.append(space);
  return out;
}

void GgufUnigram::EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const {
  const std::string text = Normalized(IsValidUtf8(run.text) ? std::string(run.text) : ReplaceInvalidUtf8(run.text));
  if (text.empty()) return;
  const TextRange all = {0, text.size()};
  model_.Encode(text, std::span(&all, 1), ids);
}

}  // namespace adit::tokenizer
