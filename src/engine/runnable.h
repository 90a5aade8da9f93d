#ifndef ADIT_ENGINE_RUNNABLE_H_
#define ADIT_ENGINE_RUNNABLE_H_

#include "adit/status.h"
#include "formats/gguf.h"

namespace adit::engine {

// Whether this build can run the model in `file`, as far as its metadata tell: Unsupported or Corrupt, with the reason,
// when its architecture, its settings or its tokenizer stand against it. Reads no weights.
Status CheckRunnable(const formats::GgufFile& file);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_RUNNABLE_H_
