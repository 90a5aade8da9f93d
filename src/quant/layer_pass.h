#ifndef ADIT_QUANT_LAYER_PASS_H_
#define ADIT_QUANT_LAYER_PASS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "adit/status.h"
#include "models/weights.h"
#include "nn/exec_context.h"

namespace adit::quant {

// Text for calibration: windows of the same number of tokens, each run by itself.
struct CalibrationText {
  std::vector<int32_t> tokens;  // [num_windows * window]
  int64_t window = 0;

  int64_t num_windows() const { return static_cast<int64_t>(tokens.size()) / window; }
};

// Keeps what matrices are multiplied with in one pass, column by column.
class InputKeeper final : public nn::LinearObserver {
 public:
  // Keeps inputs of the first matrices of groups that are among `watched`.
  InputKeeper(std::span<const nn::Linear* const> watched, int64_t max_tokens);

  void Observe(const Worker& worker, std::span<const nn::LinearJob> jobs, const kernels::ActivationView& rows,
               int64_t num_tokens) override;
  // [columns, max_tokens] of the last pass, which had that many tokens.
  const std::vector<float>& Columns(const nn::Linear* linear) const { return columns_.at(linear); }

 private:
  int64_t max_tokens_;
  std::unordered_map<const nn::Linear*, std::vector<float>> columns_;  // keys are constant after construction
};

// Runs calibration text through a model one layer after another, so that only one is in memory.
class LayerPass {
 public:
  // Of text that runs through layers of `spec`. Copies nothing; all of it outlives this.
  LayerPass(const models::ModelSpec& spec, const CalibrationText& text, const nn::ExecContext& context);

  // Runs all windows through `layer`, number `index`, from where the layers before have left them. `each`, if any, is
  // called after each window. `advance`: what comes out is where the next layer starts.
  Status Run(const models::ModelWeights& layer, size_t index, nn::LinearObserver* observer, bool advance,
             const std::function<Status()>& each);

 private:
  const models::ModelSpec& spec_;
  const CalibrationText& text_;
  nn::ExecContext context_;
  std::vector<float> hidden_;  // [num_windows * window, hidden_dim]; empty before the first layer
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_LAYER_PASS_H_
