#ifndef ADIT_TOKENIZER_GGUF_TOKENIZER_JSON_H_
#define ADIT_TOKENIZER_GGUF_TOKENIZER_JSON_H_

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "formats/json.h"

namespace adit::tokenizer {

// The tokenizer of a GGUF file as Hugging Face's tokenizer.json has it: byte-level BPE, and SentencePiece's BPE, whose
// merges follow from the scores of the pieces as transformers derives them. It gives the ids that Tokenizer::FromGguf
// does. Unsupported, by name, for another kind of tokenizer and for a pre-tokenizer that is no regular expression;
// Corrupt as FromGguf.
Result<formats::Json> TokenizerJsonOfGguf(const formats::GgufMetadata& metadata);

// tokenizer_config.json: which tokens are special, and whether the first and the last are added.
Result<formats::Json> TokenizerConfigOfGguf(const formats::GgufMetadata& metadata);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_GGUF_TOKENIZER_JSON_H_
