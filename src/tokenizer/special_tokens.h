#ifndef ADIT_TOKENIZER_SPECIAL_TOKENS_H_
#define ADIT_TOKENIZER_SPECIAL_TOKENS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "tokenizer/vocabulary.h"

namespace adit::tokenizer {

// Ids with a role. In range, all of them.
struct SpecialTokens {
  std::optional<int32_t> bos;
  std::optional<int32_t> eos;
  std::optional<int32_t> unknown;
  std::vector<int32_t> before;  // what stands before a text, and behind it, when special tokens are asked for
  std::vector<int32_t> behind;
  std::vector<int32_t> end_of_generation;  // ascending

  bool add_bos() const { return bos && !before.empty() && before.front() == *bos; }
  bool add_eos() const { return eos && !behind.empty() && behind.back() == *eos; }
};

// Control tokens after which generation ends by the texts that known chat formats use, and `ids`, ascending.
std::vector<int32_t> EndOfGeneration(const Vocabulary& vocabulary, std::vector<int32_t> ids);

// What is added where the metadata does not say and there is such a token.
struct SpecialDefaults {
  bool add_bos = false;
  bool add_eos = false;
  bool reads_sep = false;  // a separator stands behind the text, as in BERT
};

// From the `tokenizer.ggml.*_token_id` and `.add_*_token` keys.
Result<SpecialTokens> LoadSpecialTokens(const formats::GgufMetadata& metadata, const Vocabulary& vocabulary,
                                        SpecialDefaults defaults);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SPECIAL_TOKENS_H_
