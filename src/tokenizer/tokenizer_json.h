#ifndef ADIT_TOKENIZER_TOKENIZER_JSON_H_
#define ADIT_TOKENIZER_TOKENIZER_JSON_H_

#include <memory>
#include <string>

#include "adit/status.h"
#include "tokenizer/tokenizer.h"

namespace adit::tokenizer {

// The tokenizer of a Hugging Face folder: `tokenizer.json`, and where they are there `tokenizer_config.json` (added
// tokens, roles of tokens, add_bos_token, add_eos_token), `special_tokens_map.json` (roles) and
// `generation_config.json` (ids after which generation ends). `path` is the folder, or the tokenizer.json itself; the
// other files are looked for beside it. Ids are those of the `tokenizers` library; docs/tokenizers.md says where not.
// NotFound where there is no tokenizer.json; Corrupt where a file breaks its format; Unsupported, by name, for a part
// that this build does not know; ResourceExhausted above the limits on size and depth. The message holds the path.
Result<std::unique_ptr<Tokenizer>> LoadTokenizerJson(const std::string& path);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_TOKENIZER_JSON_H_
