#ifndef ADIT_ENGINE_RUNNABLE_H_
#define ADIT_ENGINE_RUNNABLE_H_

#include <memory>
#include <string>

#include "adit/status.h"
#include "formats/gguf.h"

namespace adit::engine {

// The model at `path`, a GGUF file or a Hugging Face folder seen as one. Errors as GgufFile::Open and OpenHfModel.
Result<std::unique_ptr<formats::GgufFile>> OpenModelFiles(const std::string& path);

// Whether this build can run the model in `file`, as far as its metadata tell: Unsupported or Corrupt, with the reason,
// when its architecture, its settings or its tokenizer stand against it. Reads no weights.
Status CheckRunnable(const formats::GgufFile& file);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_RUNNABLE_H_
