#ifndef ADIT_QUANT_SENSITIVITY_H_
#define ADIT_QUANT_SENSITIVITY_H_

#include <functional>
#include <span>
#include <vector>

#include "adit/status.h"
#include "formats/gguf.h"
#include "formats/retyped_model.h"
#include "nn/exec_context.h"
#include "quant/importance.h"
#include "quant/layer_pass.h"

namespace adit::quant {

// What rounding parts of a model costs over some text: the mean Kullback-Leibler divergence, in nats a token, of the
// model with that part alone rounded from the model as it is. For small errors costs of several parts add up, and each
// is proportional to the squared error of its weights (Malinovskii et al. 2024, arXiv:2411.17525): so one measurement
// a part tells about all types, and about all mixes.
struct Sensitivity {
  std::vector<double> layer_kld;   // [layers] all matrices of a layer at once; measured
  std::vector<double> tensor_kld;  // [tensors] of the model; 0 of those that were not rounded
  Importance inputs;               // mean squares of what each matrix is multiplied with over the text
};

struct SensitivityOptions {
  // Called now and then with the share that is done; a status that is not ok ends it.
  std::function<Status(double)> progress;
};

// Measures it for `model`, of float weights, with its tensors rounded as `probes` say, one for each; those whose type
// is the tensor's own are not. A layer's cost is shared out to its matrices by how much each, rounded alone, changes
// what the layer passes on, relative to the size of the row: this takes one layer's work for each matrix and not a
// model's. The embedding and what gives the logits are measured each by itself. Weights are rounded in memory and
// products are those of floats, so that nothing but the rounding shows. In memory are the model, one layer in F32, and
// base predictions of at most 256 MiB. InvalidArgument for a text of no window; Unsupported as CalibratedModel.
Result<Sensitivity> MeasureSensitivity(const formats::GgufFile& model, std::span<const formats::TensorRetyping> probes,
                                       const CalibrationText& text, const SensitivityOptions& options,
                                       const nn::ExecContext& context);

}  // namespace adit::quant

#endif  // ADIT_QUANT_SENSITIVITY_H_
