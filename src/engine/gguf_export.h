#ifndef ADIT_ENGINE_GGUF_EXPORT_H_
#define ADIT_ENGINE_GGUF_EXPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "adit/status.h"
#include "base/worker_team.h"
#include "formats/gguf.h"
#include "formats/gguf_metadata.h"

namespace adit::engine {

// What a file says of itself beside its tensors.
struct GgufNotes {
  std::optional<uint64_t> file_type;                              // general.file_type; unset: as it was
  std::map<std::string, formats::GgufValue, std::less<>> values;  // further ones, in place of those of the model
  size_t max_part_bytes = 0;  // tensors of one file, where the model is written in parts; 0: one file
};

// Called while a file is written; a status that is not ok ends that, and no file is left.
struct ExportHooks {
  std::function<Status(double share)> progress;                      // now and then: 0 to 1
  std::function<Status(const formats::TensorInfo& tensor)> prepare;  // before a tensor's rows are read
  // Of a folder with static inputs: the largest magnitude of what a matrix that was prepared is multiplied with.
  std::function<Result<float>(const formats::TensorInfo& tensor)> largest_input;
};

// Writes `model`, a GGUF file or what is seen as one, as one GGUF file at `path`, or in parts: keys, tokenizer, chat
// template and tensors, in the types that it has. Rows are read, computed by the whole team, and written a few MB at a
// time. Unsupported where GGUF has no keys for the tokenizer, Io when the system refuses.
Status WriteGguf(const formats::GgufFile& model, const std::string& path, const GgufNotes& notes, WorkerTeam& team,
                 const ExportHooks& hooks);

// Writes `model`, a GGUF file or a folder seen as one, as one GGUF file at `path`: keys, tokenizer, chat template and
// weights. `type` is that of the matrices, any that weights can be made in; unset, float matrices stay as most of them
// are. Vectors become F32; what is quantised already stays. max_part_bytes as in GgufNotes. InvalidArgument for another
// type, else as WriteGguf.
Status ExportGguf(std::unique_ptr<formats::GgufFile> model, const std::string& path,
                  const std::optional<std::string>& type, size_t max_part_bytes, const ExportHooks& hooks);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_GGUF_EXPORT_H_
