#ifndef ADIT_CLI_TOKEN_LINES_H_
#define ADIT_CLI_TOKEN_LINES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "tokenizer/tokenizer.h"

// The JSON that `adit tokenize` and `adit detokenize` read and write.
namespace adit::cli {

// The bytes that a line {"text": "..."} or {"hex": "..."} stands for. InvalidArgument with the reason for anything
// else.
Result<std::string> ParseTextLine(std::string_view line);

// The ids of a line {"ids": [...]}.
Result<std::vector<int32_t>> ParseIdsLine(std::string_view line);

// {"ids":[...]}
std::string IdsJson(std::span<const int32_t> ids);

// {"ids":[...],"pieces":[...]} with the vocabulary's entries as they are stored.
std::string IdsAndPiecesJson(const tokenizer::Tokenizer& tokenizer, std::span<const int32_t> ids);

// {"text":"...","hex":"..."}: the text with U+FFFD for what is not UTF-8, and its bytes.
std::string TextJson(std::string_view bytes);

// {"error":"..."}
std::string ErrorJson(std::string_view message);

}  // namespace adit::cli

#endif  // ADIT_CLI_TOKEN_LINES_H_
