#ifndef ADIT_ENGINE_HF_EXPORT_H_
#define ADIT_ENGINE_HF_EXPORT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "adit/status.h"
#include "base/worker_team.h"
#include "engine/gguf_export.h"
#include "formats/gguf.h"
#include "models/hf_packing.h"
#include "tensor/dtype.h"

namespace adit::engine {

struct HfExportOptions {
  // How the matrices of layers are quantised; unset: not at all. Of whole numbers the model has them as Int4 or Int8,
  // as PackHfMatrix takes them; FP8 is made here. Static inputs need the hook largest_input.
  std::optional<models::HfPacking> packing;
  // F32, F16 or BF16 for the other matrices; unset: float ones stay as they are, others become F16.
  std::optional<DType> dtype;
};

// Writes `model`, a GGUF file or what is seen as one, as a Hugging Face folder at `path`: config.json, weights in
// safetensors under the names and in the order of rows of the family there, tokenizer, chat template and
// generation_config.json. Rows are read and computed by the whole team a few MB at a time; of quantised matrices one is
// in memory. The folder appears whole or not at all. The bytes of its weights. Unsupported, by name, for what such a
// folder has no place for; else as ModelFolderWriter and PackHfMatrix.
Result<size_t> WriteHfFolder(const formats::GgufFile& model, const std::string& path, const HfExportOptions& options,
                             WorkerTeam& team, const ExportHooks& hooks);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_HF_EXPORT_H_
