#ifndef ADIT_QUANT_CALIBRATED_MODEL_H_
#define ADIT_QUANT_CALIBRATED_MODEL_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "formats/gguf.h"
#include "formats/retyped_model.h"
#include "nn/exec_context.h"
#include "quant/layer_pass.h"
#include "quant/layer_rounder.h"

namespace adit::quant {

struct CalibrationOptions {
  RoundingOptions rounding;
  // A folder that layers are kept in as they are rounded, and taken from where a run before has left them; empty: none.
  std::string resume_folder;
  // Called now and then with the share that is done; a status that is not ok ends it.
  std::function<Status(double)> progress;
};

// A model whose layers' matrices are rounded by what they are multiplied with, one layer after another: each sees the
// text as the layers before it, rounded already, pass it on. Tensors of no layer come first, then layer by layer;
// Prepare has to be called with each before its rows are read, in that order. In memory are the text's hidden states
// and one layer.
class CalibratedModel : public formats::GgufFile {
 public:
  // `model` with its tensors in the types of `tensors`, one for each; matrices of layers whose types have no grid are
  // rounded without calibration. Fp8 is for matrices of two dimensions that InputOf knows, and needs rounding.gptq.
  // InvalidArgument for a text of no window; Unsupported for models that this build cannot run, or that need whole
  // sequences (embedders); as LayerStore::Open for the folder.
  static Result<std::unique_ptr<CalibratedModel>> Create(std::unique_ptr<formats::GgufFile> model,
                                                         std::span<const formats::TensorRetyping> tensors,
                                                         CalibrationText text, const CalibrationOptions& options,
                                                         const kernels::KernelTable& kernels, WorkerTeam& team);
  // Rounds the layer that `tensor` is of, where that has not been done. FailedPrecondition out of order, else as
  // LayerRounder and LoadLayer.
  virtual Status Prepare(const formats::TensorInfo& tensor) = 0;
  // The largest magnitude of what `tensor`, a matrix of the layer that was prepared last, is multiplied with over the
  // text. Unsupported for a matrix that is not known by its name. Precondition: rounding.keeps_largest.
  virtual Result<float> LargestInput(const formats::TensorInfo& tensor) const = 0;
  // All is written: removes the folder of kept layers.
  virtual void RemoveKeptLayers() = 0;
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_CALIBRATED_MODEL_H_
