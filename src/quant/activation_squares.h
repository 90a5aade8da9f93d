#ifndef ADIT_QUANT_ACTIVATION_SQUARES_H_
#define ADIT_QUANT_ACTIVATION_SQUARES_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/weights.h"
#include "nn/linear.h"
#include "quant/importance.h"

namespace adit::quant {

// Sums the squares of what each matrix of a model is multiplied with.
class ActivationSquares final : public nn::LinearObserver {
 public:
  // `weights` outlive this.
  explicit ActivationSquares(const models::ModelWeights& weights);

  void Observe(const Worker& worker, std::span<const nn::LinearJob> jobs, const kernels::ActivationView& rows,
               int64_t num_tokens) override;

  // What has been summed so far, of matrices that have been used. Not while a pass runs. Corrupt when activations were
  // infinite or NaN.
  Result<Importance> Sums() const;

 private:
  struct Columns {
    std::string name;
    std::vector<double> sums;
    int64_t count = 0;
  };
  std::vector<Columns> columns_;
  std::unordered_map<const nn::Linear*, size_t> index_;  // constant after construction
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_ACTIVATION_SQUARES_H_
