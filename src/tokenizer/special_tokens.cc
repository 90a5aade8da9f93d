#include "tokenizer/special_tokens.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace adit::tokenizer {
namespace {

using formats::GgufMetadata;

// Texts that end a turn or a document in the chat formats of known families. They count where they are control tokens.
constexpr std::string_view kEndTexts[] = {
    "<|eot_id|>",
    "<|eom_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|endoftext|>",
    "<|return|>",
    "<|call|>",
    "<|calls|>",
    "<|flush|>",
    "<end_of_turn>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "</s>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "[e~[",
    "<|end_of_text|>",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
    "<end_of_utterance>",
    "<｜end▁of▁sentence｜>",
};

// Keys of ids after which generation ends.
constexpr std::string_view kEndKeys[] = {
    "tokenizer.ggml.eos_token_id",     "tokenizer.ggml.eot_token_id",     "tokenizer.ggml.eom_token_id",
    "tokenizer.ggml.fim_pad_token_id", "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id",
};

Result<std::optional<int32_t>> GetId(const GgufMetadata& metadata, std::string_view key, int64_t vocab_size) {
  if (!metadata.Has(key)) return std::optional<int32_t>();
  ADIT_ASSIGN_OR_RETURN(const int64_t id, metadata.GetInt(key));
  if (id < 0 || id >= vocab_size) {
    return Corrupt("gguf: {}: key '{}' is {}, wanted a token id from 0 to {}", metadata.path(), key, id,
                   vocab_size - 1);
  }
  return std::optional(static_cast<int32_t>(id));
}

// The value of a flag that says to add token `id`, which the file must then have.
Result<bool> GetAddFlag(const GgufMetadata& metadata, std::string_view flag_key, std::string_view id_key,
                        std::optional<int32_t> id, bool fallback) {
  ADIT_ASSIGN_OR_RETURN(const bool add, metadata.BoolOr(flag_key, fallback && id.has_value()));
  if (add && !id) {
    return Corrupt("gguf: {}: key '{}' is true, but key '{}' is missing", metadata.path(), flag_key, id_key);
  }
  return add;
}

// The control token with this text, or -1.
int32_t FindControl(const Vocabulary& vocabulary, std::string_view text) {
  const int32_t id = vocabulary.pieces.Find(text);
  return id >= 0 && vocabulary.Type(id) == TokenType::kControl ? id : -1;
}

}  // namespace

std::vector<int32_t> EndOfGeneration(const Vocabulary& vocabulary, std::vector<int32_t> ids) {
  std::vector<int32_t> by_text;
  for (const std::string_view text : kEndTexts) {
    if (const int32_t id = FindControl(vocabulary, text); id >= 0) by_text.push_back(id);
  }
  const auto remove = [&](std::string_view text) { std::erase(by_text, vocabulary.pieces.Find(text)); };
  const auto has = [&](std::string_view text) { return FindControl(vocabulary, text) >= 0; };
  // In these formats <|end|> closes one message of several, and </s> is an HTML tag.
  if ((has("<|return|>") && has("<|call|>")) || (has("<|calls|>") && has("<|flush|>"))) remove("<|end|>");
  if (has("<|tool_response>")) remove("</s>");
  ids.insert(ids.end(), by_text.begin(), by_text.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Result<SpecialTokens> LoadSpecialTokens(const GgufMetadata& metadata, const Vocabulary& vocabulary,
                                        SpecialDefaults defaults) {
  constexpr std::string_view kBosKey = "tokenizer.ggml.bos_token_id";
  constexpr std::string_view kEosKey = "tokenizer.ggml.eos_token_id";
  SpecialTokens tokens;
  ADIT_ASSIGN_OR_RETURN(tokens.bos, GetId(metadata, kBosKey, vocabulary.size()));
  ADIT_ASSIGN_OR_RETURN(tokens.eos, GetId(metadata, kEosKey, vocabulary.size()));
  ADIT_ASSIGN_OR_RETURN(tokens.unknown, GetId(metadata, "tokenizer.ggml.unknown_token_id", vocabulary.size()));
  ADIT_ASSIGN_OR_RETURN(const bool add_bos,
                        GetAddFlag(metadata, "tokenizer.ggml.add_bos_token", kBosKey, tokens.bos, defaults.add_bos));
  ADIT_ASSIGN_OR_RETURN(const bool add_eos,
                        GetAddFlag(metadata, "tokenizer.ggml.add_eos_token", kEosKey, tokens.eos, defaults.add_eos));
  if (add_bos) tokens.before.push_back(*tokens.bos);
  if (add_eos) tokens.behind.push_back(*tokens.eos);
  if (defaults.reads_sep) {
    ADIT_ASSIGN_OR_RETURN(const std::optional<int32_t> sep,
                          GetId(metadata, "tokenizer.ggml.seperator_token_id", vocabulary.size()));
    ADIT_ASSIGN_OR_RETURN(const bool add_sep, metadata.BoolOr("tokenizer.ggml.add_sep_token", sep.has_value()));
    // Files that name the same token as EOS and as separator mean one of them.
    if (sep && (add_sep || !add_eos) && tokens.behind.empty()) tokens.behind.push_back(*sep);
  }
  std::vector<int32_t> end_ids;
  for (const std::string_view key : kEndKeys) {
    ADIT_ASSIGN_OR_RETURN(const std::optional<int32_t> id, GetId(metadata, key, vocabulary.size()));
    if (id) end_ids.push_back(*id);
  }
  tokens.end_of_generation = EndOfGeneration(vocabulary, std::move(end_ids));
  return tokens;
}

}  // namespace adit::tokenizer
