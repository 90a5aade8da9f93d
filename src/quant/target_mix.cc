#include "quant/target_mix.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/error.h"
#include "formats/retyped_model.h"
#include "quant/bit_allocation.h"
#include "quant/layer_name.h"
#include "quant/rounding_error.h"

namespace adit::quant {
namespace {

using formats::TensorInfo;
using formats::TensorRetyping;

double BitsOf(DType dtype) { return 8.0 * Traits(dtype).block_bytes / Traits(dtype).block_elements; }

// The types that a tensor may have, without repetition; none that takes more than it does now.
std::vector<DType> ChoicesOf(const TensorInfo& tensor, const std::vector<DType>& candidates) {
  std::vector<DType> choices;
  for (const DType candidate : candidates) {
    const DType fitting = formats::FittingType(candidate, tensor.row_elements()).value_or(tensor.dtype);
    const DType choice = BitsOf(fitting) > BitsOf(tensor.dtype) ? tensor.dtype : fitting;
    if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
  }
  return choices;
}

// What inputs of a tensor count; nothing is known of those that are no matrix of a layer.
std::vector<float> InputsOf(const Sensitivity& sensitivity, const TensorInfo& tensor) {
  const Result<std::vector<float>> means =
      sensitivity.inputs.For(tensor.name, tensor.row_elements(), "what was measured");
  return means.ok() ? *means : std::vector<float>();
}

class TargetSolver {
 public:
  TargetSolver(const formats::GgufFile& model, const CalibrationText& text, const TargetOptions& options,
               const nn::ExecContext& context)
      : model_(model), text_(text), options_(options), context_(context) {}

  Result<TargetMix> Solve();

 private:
  TensorRetyping As(size_t tensor, DType dtype) const {
    return {.dtype = dtype,
            .importance = options_.importance.empty() ? std::span<const float>() : options_.importance[tensor]};
  }
  DType ProbeOf(const std::vector<DType>& choices, DType own) const;
  Result<size_t> BudgetBytes();
  void AddCosts();

  const formats::GgufFile& model_;
  const CalibrationText& text_;
  const TargetOptions& options_;
  const nn::ExecContext& context_;
  std::vector<size_t> free_;                        // tensors
  std::vector<std::vector<DType>> types_;           // that each of them may have
  std::vector<std::vector<TensorChoice>> choices_;  // the same, with what they cost
  std::vector<TensorRetyping> probes_;              // [tensors]
  size_t fixed_bytes_ = 0;
  int64_t elements_ = 0;
  TargetMix mix_;
};

// The nearest to the target in bits of those that round.
DType TargetSolver::ProbeOf(const std::vector<DType>& choices, DType own) const {
  std::optional<DType> probe;
  const auto distance = [&](DType dtype) { return std::abs(BitsOf(dtype) - options_.bits_per_weight); };
  for (const DType choice : choices) {
    if (choice != own && (!probe || distance(choice) < distance(*probe))) probe = choice;
  }
  return probe.value_or(own);
}

// Of the free tensors. Fills all but the costs.
Result<size_t> TargetSolver::BudgetBytes() {
  size_t least_bytes = 0;
  for (size_t i = 0; i < model_.tensors().size(); ++i) {
    const TensorInfo& tensor = model_.tensors()[i];
    elements_ += tensor.num_elements();
    probes_.push_back({.dtype = tensor.dtype});
    mix_.types.push_back(options_.types[i]);
    const auto bytes = [&](DType dtype) {
      return RowBytes(dtype, tensor.row_elements()) * static_cast<size_t>(tensor.num_rows());
    };
    if (!options_.is_free[i]) {
      fixed_bytes_ += bytes(options_.types[i]);
      continue;
    }
    free_.push_back(i);
    types_.push_back(ChoicesOf(tensor, options_.candidates));
    probes_.back() = As(i, ProbeOf(types_.back(), tensor.dtype));
    std::vector<TensorChoice>& choices = choices_.emplace_back();
    for (const DType dtype : types_.back()) choices.push_back({.bytes = bytes(dtype)});
    least_bytes += std::ranges::min_element(choices, {}, &TensorChoice::bytes)->bytes;
  }
  const auto budget =
      static_cast<size_t>(std::max(0.0, options_.bits_per_weight * static_cast<double>(elements_) / 8.0));
  if (fixed_bytes_ + least_bytes > budget) {
    return InvalidArgument(
        "{} bits a weight cannot be reached: with the types that there are to choose from, the least "
        "is {:.3f}",
        options_.bits_per_weight,
        8.0 * static_cast<double>(fixed_bytes_ + least_bytes) / static_cast<double>(elements_));
  }
  return budget - fixed_bytes_;
}

void TargetSolver::AddCosts() {
  for (size_t k = 0; k < free_.size(); ++k) {
    const size_t i = free_[k];
    const TensorInfo& tensor = model_.tensors()[i];
    const std::vector<float> inputs = InputsOf(mix_.sensitivity, tensor);
    const double probed = RoundingError(model_, tensor, probes_[i], inputs, context_.team);
    if (!(probed > 0.0)) continue;
    for (size_t c = 0; c < types_[k].size(); ++c) {
      const double error = RoundingError(model_, tensor, As(i, types_[k][c]), inputs, context_.team);
      choices_[k][c].cost = mix_.sensitivity.tensor_kld[i] * error / probed;
    }
  }
}

Result<TargetMix> TargetSolver::Solve() {
  ADIT_ASSIGN_OR_RETURN(const size_t budget, BudgetBytes());
  ADIT_ASSIGN_OR_RETURN(mix_.sensitivity, MeasureSensitivity(model_, probes_, text_, options_.measuring, context_));
  AddCosts();
  const std::optional<std::vector<size_t>> chosen = AllocateBits(choices_, budget);
  ADIT_CHECK(chosen.has_value());
  size_t bytes = fixed_bytes_;
  for (size_t k = 0; k < free_.size(); ++k) {
    const TensorChoice& choice = choices_[k][(*chosen)[k]];
    mix_.types[free_[k]] = types_[k][(*chosen)[k]];
    mix_.predicted_kld += choice.cost;
    bytes += choice.bytes;
  }
  mix_.bits_per_weight = 8.0 * static_cast<double>(bytes) / static_cast<double>(elements_);
  return std::move(mix_);
}

}  // namespace

Result<TargetMix> SolveTargetMix(const formats::GgufFile& model, const CalibrationText& text,
                                 const TargetOptions& options, const nn::ExecContext& context) {
  ADIT_CHECK(options.types.size() == model.tensors().size() && options.is_free.size() == model.tensors().size());
  if (options.candidates.empty()) return InvalidArgument("no types to choose from");
  return TargetSolver(model, text, options, context).Solve();
}

std::vector<double> PredictLayerKld(const formats::GgufFile& model, const Sensitivity& sensitivity,
                                    std::span<const TensorRetyping> probes, std::span<const TensorRetyping> types,
                                    WorkerTeam& team) {
  std::vector<double> kld(sensitivity.layer_kld.size() + 1);
  for (size_t i = 0; i < probes.size(); ++i) {
    const double measured = sensitivity.tensor_kld[i];
    if (measured == 0.0) continue;
    const TensorInfo& tensor = model.tensors()[i];
    const std::vector<float> inputs = InputsOf(sensitivity, tensor);
    const double probed = RoundingError(model, tensor, probes[i], inputs, team);
    if (!(probed > 0.0)) continue;
    const double error = RoundingError(model, tensor, types[i], inputs, team);
    kld[LayerOf(tensor.name).value_or(kld.size() - 1)] += measured * error / probed;
  }
  return kld;
}

}  // namespace adit::quant
