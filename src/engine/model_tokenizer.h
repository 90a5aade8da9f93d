#ifndef ADIT_ENGINE_MODEL_TOKENIZER_H_
#define ADIT_ENGINE_MODEL_TOKENIZER_H_

#include <memory>

#include "adit/status.h"
#include "formats/gguf.h"
#include "tokenizer/tokenizer.h"

namespace adit::engine {

// Whether `model` has the keys of a tokenizer; else why its folder's has none: NotFound, Corrupt or Unsupported.
Status CheckTokenizerKeys(const formats::GgufFile& model);

// The tokenizer of a GGUF file or of a Hugging Face folder. NotFound, Corrupt or Unsupported, with the reason.
Result<std::unique_ptr<tokenizer::Tokenizer>> OpenTokenizer(const formats::GgufFile& model);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MODEL_TOKENIZER_H_
