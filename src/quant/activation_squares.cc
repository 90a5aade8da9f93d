#include "quant/activation_squares.h"

#include <cmath>

#include "base/error.h"

namespace adit::quant {

ActivationSquares::ActivationSquares(const models::ModelWeights& weights) {
  models::ForEachLinear(weights, [this](const std::string& name, const nn::Linear& linear) {
    index_.emplace(&linear, columns_.size());
    columns_.push_back({.name = name, .sums = std::vector<double>(static_cast<size_t>(linear.matrix.num_cols()))});
  });
}

void ActivationSquares::Observe(const Worker& worker, std::span<const nn::LinearJob> jobs,
                                const kernels::ActivationView& rows, int64_t num_tokens) {
  const int64_t num_cols = jobs.front().linear->matrix.num_cols();
  const int64_t begin = num_cols * worker.index() / worker.count();
  const int64_t end = num_cols * (worker.index() + 1) / worker.count();
  for (const nn::LinearJob& job : jobs) {
    Columns& columns = columns_[index_.at(job.linear)];
    for (int64_t token = 0; token < num_tokens; ++token) {
      const float* row = rows.f32 + token * rows.f32_stride;
      for (int64_t i = begin; i < end; ++i) {
        columns.sums[static_cast<size_t>(i)] += static_cast<double>(row[i]) * row[i];
      }
    }
    if (worker.index() == 0) columns.count += num_tokens;
  }
}

Result<Importance> ActivationSquares::Sums() const {
  Importance importance;
  for (const Columns& columns : columns_) {
    if (columns.count == 0) continue;
    Importance::Matrix matrix{.sums = {columns.sums.begin(), columns.sums.end()},
                              .count = static_cast<float>(columns.count)};
    for (const float sum : matrix.sums) {
      if (!std::isfinite(sum))
        return Corrupt("the activations that '{}' is multiplied with are not finite", columns.name);
    }
    importance.matrices.emplace(columns.name, std::move(matrix));
  }
  return importance;
}

}  // namespace adit::quant
