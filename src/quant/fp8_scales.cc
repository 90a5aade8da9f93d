#include "quant/fp8_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/fp8.h"

namespace adit::quant {
namespace {

// As std::max, but that a NaN stays.
float LargerOrNan(float a, float b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

Fp8Scales::Fp8Scales(const Fp8Blocks& blocks, int64_t num_rows, int64_t num_cols)
    : num_rows_(num_rows),
      num_cols_(num_cols),
      block_rows_(blocks.rows > 0 ? blocks.rows : num_rows),
      block_cols_(blocks.cols > 0 ? blocks.cols : num_cols),
      blocks_per_row_((num_cols + block_cols_ - 1) / block_cols_),
      scales_(static_cast<size_t>(num_rows * blocks_per_row_)) {}

void Fp8Scales::Add(int64_t row, const float* weights) {
  for (int64_t col = 0; col < num_cols_; ++col) {
    const float magnitude = std::abs(weights[col]);
    float& scale = scales_[static_cast<size_t>(row * blocks_per_row_ + col / block_cols_)];
    scale = LargerOrNan(std::isfinite(magnitude) ? magnitude / kLargestE4M3 : std::numeric_limits<float>::quiet_NaN(),
                        scale);
  }
}

void Fp8Scales::Finish() {
  for (int64_t first = 0; first < num_rows_; first += block_rows_) {
    const int64_t end = std::min(first + block_rows_, num_rows_);
    for (int64_t block = 0; block < blocks_per_row_; ++block) {
      const auto at = [&](int64_t row) -> float& {
        return scales_[static_cast<size_t>(row * blocks_per_row_ + block)];
      };
      float largest = 0.0f;
      for (int64_t row = first; row < end; ++row) largest = LargerOrNan(at(row), largest);
      for (int64_t row = first; row < end; ++row) at(row) = largest;
    }
  }
}

}  // namespace adit::quant
