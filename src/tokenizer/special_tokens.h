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
  bool add_bos = false;
  bool add_eos = false;
  std::vector<int32_t> end_of_generation;  // ascending
};

// From the `tokenizer.ggml.*_token_id` and `.add_*_token` keys; default_add_bos holds where the metadata does not say
// and there is a BOS.
Result<SpecialTokens> LoadSpecialTokens(const formats::GgufMetadata& metadata, const Vocabulary& vocabulary,
                                        bool default_add_bos);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SPECIAL_TOKENS_H_
