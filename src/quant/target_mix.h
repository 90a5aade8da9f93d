#ifndef ADIT_QUANT_TARGET_MIX_H_
#define ADIT_QUANT_TARGET_MIX_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "formats/gguf.h"
#include "nn/exec_context.h"
#include "quant/layer_pass.h"
#include "quant/sensitivity.h"
#include "tensor/dtype.h"

namespace adit::quant {

struct TargetOptions {
  double bits_per_weight = 0.0;   // of the whole file, at most
  std::vector<DType> candidates;  // for matrices; where rows do not fit, as FittingType has it
  // What each tensor becomes that is not free to choose, [tensors], and which are.
  std::vector<DType> types;
  std::vector<bool> is_free;
  // What columns' errors count when blocks are made, [tensors]; empty: nothing is known.
  std::vector<std::span<const float>> importance;
  SensitivityOptions measuring;
};

struct TargetMix {
  std::vector<DType> types;  // [tensors]
  double bits_per_weight = 0.0;
  double predicted_kld = 0.0;  // nats a token, if costs add up
  Sensitivity sensitivity;     // to rounding each matrix to the candidate nearest to the target
};

// The types with which `model`, of float weights, takes at most so many bits a weight and is predicted to differ least:
// what each matrix costs is measured once (MeasureSensitivity), what it costs in other types follows from their
// errors (RoundingError), and AllocateBits chooses. InvalidArgument, with the least that can be reached, for a target
// below it; else as MeasureSensitivity.
Result<TargetMix> SolveTargetMix(const formats::GgufFile& model, const CalibrationText& text,
                                 const TargetOptions& options, const nn::ExecContext& context);

// What `model` would lose by types of its tensors, [tensors], by the same reasoning from what was measured with
// `probes`: nats a token of each layer, [layers], and last those of the embedding and of what gives the logits.
std::vector<double> PredictLayerKld(const formats::GgufFile& model, const Sensitivity& sensitivity,
                                    std::span<const formats::TensorRetyping> probes,
                                    std::span<const formats::TensorRetyping> types, WorkerTeam& team);

}  // namespace adit::quant

#endif  // ADIT_QUANT_TARGET_MIX_H_
