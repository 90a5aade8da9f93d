#ifndef ADIT_FORMATS_HF_TOKENIZER_KEYS_H_
#define ADIT_FORMATS_HF_TOKENIZER_KEYS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "formats/hf_folder.h"

namespace adit::formats {

using GgufValues = std::map<std::string, GgufValue, std::less<>>;

// The folder's tokenizer and chat template as a GGUF file holds them: `tokenizer.ggml.*` and `tokenizer.chat_template`,
// from tokenizer.json, tokenizer_config.json and config.json. BPE over bytes with a pre-tokenizer that GGUF has a name
// for, BPE over SentencePiece pieces, whose scores follow from the order of the merges, or BERT's WordPiece.
//
// NotFound without a tokenizer.json, Corrupt for one that breaks its format, Unsupported, by name, for what GGUF has no
// keys for.
Result<GgufValues> HfTokenizerKeys(const HfFolder& folder);
// The same with `tokenizer` for the contents of tokenizer.json.
Result<GgufValues> HfTokenizerKeys(const HfFolder& folder, std::string_view tokenizer);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_HF_TOKENIZER_KEYS_H_
