#ifndef ADIT_QUANT_LAYER_ROUNDER_H_
#define ADIT_QUANT_LAYER_ROUNDER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/weight_source.h"
#include "models/model_spec.h"
#include "nn/exec_context.h"
#include "quant/fp8_scales.h"
#include "quant/gptq.h"
#include "quant/rounded_layer.h"
#include "quant/scale_fitter.h"
#include "quant/smooth_quant.h"
#include "tensor/encode_groups.h"

namespace adit::quant {

// The inputs of a layer's matrices.
enum class LayerInput : uint8_t { kMixer, kAttended, kFeedForward, kGated };
inline constexpr int kNumLayerInputs = 4;

// Which of them the matrix of that name reads; none for other tensors.
std::optional<LayerInput> InputOf(std::string_view name);

struct RoundingOptions {
  bool gptq = true;                   // else each weight to the nearest value
  bool awq = false;                   // columns are scaled before
  bool smooth = false;                // they are scaled by SmoothQuant instead
  bool keeps_largest = false;         // RoundedLayer::largest_inputs is wanted
  std::optional<GroupScales> groups;  // of tensors that become Int4 or Int8
  Fp8Blocks fp8;                      // of those that become Fp8, by GPTQ alone
  GptqOptions gptq_options;
};

// A tensor of a layer, and whether its weights are rounded to `dtype`; others are only read.
struct LayerTensor {
  const formats::TensorInfo* tensor = nullptr;
  DType dtype = DType::kF32;
  bool is_rounded = false;
};

// What is known of the inputs of a layer's matrices.
struct LayerInputs {
  std::array<std::vector<float>, kNumLayerInputs>
      hessians;  // sums of x x^T over tokens, large ones held down; empty for `smooth` alone
  std::array<InputSample, kNumLayerInputs> samples;  // for `smooth` and `keeps_largest`
};

// Rounds the matrices of one layer.
class LayerRounder {
 public:
  // All of it outlives this.
  LayerRounder(const formats::WeightSource& model, const models::LayerSpec& spec, const RoundingOptions& options,
               const nn::ExecContext& context)
      : model_(model), spec_(spec), options_(options), context_(context), spanning_groups_(options.groups) {
    if (spanning_groups_) spanning_groups_->narrows = false;
  }

  // What `tensors`, all of the layer, become. `told` is called after each input.
  Result<std::unique_ptr<RoundedLayer>> Round(std::span<const LayerTensor> tensors, LayerInputs inputs,
                                              const std::function<Status(int num_done)>& told);

  // Whether scaling columns may change a tensor of that name though it is not rounded.
  static bool MayScale(std::string_view name);

 private:
  // What divides the columns of each input, which its matrices are multiplied by; empty: nothing.
  using Scales = std::array<std::vector<float>, kNumLayerInputs>;

  // What an input of calibration says of how to round what reads it; parts that a method has no use for are empty.
  struct InputStatistics {
    std::vector<float> importance;  // of columns
    std::optional<GptqFactor> factor;
    std::optional<ScaleFitter> fitter;
  };

  const LayerTensor* FindEnd(std::string_view end) const;
  bool CanScale(LayerInput input) const;
  std::vector<int64_t> SourcesOf(LayerInput input, int64_t num_columns) const;
  // The factor of element `index` of what gives the input, which is scaled.
  float FactorOfSource(LayerInput input, int64_t index) const;
  Status SearchScales(const LayerInputs& inputs);
  Result<std::vector<float>> SearchScales(std::span<const LayerTensor* const> readers, LayerInput input,
                                          const LayerInputs& inputs) const;
  const GroupScales* GroupsOf(const LayerTensor& tensor) const;
  std::vector<float> LargestOfColumns(const formats::TensorInfo& tensor) const;
  std::vector<float> SampleRows(const formats::TensorInfo& tensor) const;
  void DivideSources(RoundedLayer& out) const;
  std::vector<float> LargestInputs(const LayerInputs& inputs) const;
  // Of an input of `n` columns; `in_groups`: scales of GroupScales are wanted.
  Result<InputStatistics> StatisticsOf(std::vector<float> hessian, int64_t n, bool in_groups) const;
  Status RoundInput(LayerInput input, std::vector<float> hessian, RoundedLayer& out) const;
  std::vector<std::byte> Encode(const LayerTensor& tensor, const InputStatistics& statistics) const;
  Fp8Scales Fp8ScalesOf(const formats::TensorInfo& tensor) const;
  // Rows [first, first + count) of the tensor, scaled as it and what it gives are.
  void ReadScaled(const formats::TensorInfo& tensor, int64_t first, int64_t count, float* out) const;

  const formats::WeightSource& model_;
  const models::LayerSpec& spec_;
  const RoundingOptions& options_;
  nn::ExecContext context_;
  std::optional<GroupScales> spanning_groups_;  // options_.groups that do not narrow
  // Of the layer at hand.
  std::span<const LayerTensor> tensors_;
  Scales scales_;
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_LAYER_ROUNDER_H_
