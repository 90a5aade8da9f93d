#ifndef ADIT_CLI_PROMPT_WORDS_H_
#define ADIT_CLI_PROMPT_WORDS_H_

#include <cstdint>
#include <span>
#include <string>

namespace adit::cli {

// Words that stand for the tokens of a workload where a server takes texts: usual vocabularies have a token for each
// of them with the space before it.
inline constexpr int32_t kNumPromptWords = 256;

// Words 0..kNumPromptWords-1 as a text.
std::string PromptText(std::span<const int32_t> words);

}  // namespace adit::cli

#endif  // ADIT_CLI_PROMPT_WORDS_H_
