#ifndef ADIT_ENGINE_GGUF_EXPORT_H_
#define ADIT_ENGINE_GGUF_EXPORT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adit/status.h"
#include "formats/gguf.h"

namespace adit::engine {

// Writes `model`, a GGUF file or a folder seen as one, as one GGUF file at `path`: keys, tokenizer, chat template and
// weights. `type` is that of the matrices, any that weights can be made in; unset, float matrices stay as most of them
// are. Vectors become F32; what is quantised already stays. Rows are read and written a few MB at a time. Called with
// the share that is done, 0 to 1, now and then.
//
// InvalidArgument for another type, Unsupported where GGUF has no keys for the tokenizer, Io when the system refuses.
Status ExportGguf(std::unique_ptr<formats::GgufFile> model, const std::string& path,
                  const std::optional<std::string>& type, const std::function<void(double)>& progress);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_GGUF_EXPORT_H_
