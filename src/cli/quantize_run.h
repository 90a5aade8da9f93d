#ifndef ADIT_CLI_QUANTIZE_RUN_H_
#define ADIT_CLI_QUANTIZE_RUN_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "adit/status.h"
#include "base/worker_team.h"
#include "cli/options.h"
#include "cli/progress_bar.h"
#include "engine/gguf_export.h"
#include "formats/gguf.h"
#include "formats/retyped_model.h"
#include "quant/folder_scheme.h"
#include "quant/layer_pass.h"

// The two ways of adit quantize: to a GGUF file (quantize.cc) and to a Hugging Face folder (quantize_folder.cc).
namespace adit::cli {

// Whether a method needs text to calibrate with.
bool NeedsCalibration(const QuantizeOptions& options);
// The tokens of the text, in windows.
Result<quant::CalibrationText> ReadCalibration(const QuantizeOptions& options, const formats::GgufFile& model);
// A model whose weights are rounded as they are read.
struct RoundedModel {
  std::unique_ptr<formats::GgufFile> model;
  engine::ExportHooks hooks;       // that a writer of `model` has to be given
  std::function<void()> finished;  // to be called when all is written: what a stopped run would go on from is removed
};
// `model` with the tensors of `retypings`, rounded by the options' method. `folder`: what a folder's type asks for,
// null for a GGUF file. `retypings`, `bar` and `team` outlive the result. Writing ends as cancelled when a signal has
// come.
Result<RoundedModel> RoundModel(const QuantizeOptions& options, std::unique_ptr<formats::GgufFile> model,
                                const std::vector<formats::TensorRetyping>& retypings,
                                const quant::FolderScheme* folder, ProgressBar& bar, WorkerTeam& team);
// Writes the folder, for a type of FolderTypeNames. The exit code.
Result<int> QuantizeToFolder(const QuantizeOptions& options, std::unique_ptr<formats::GgufFile> model);

}  // namespace adit::cli

#endif  // ADIT_CLI_QUANTIZE_RUN_H_
