#ifndef ADIT_QUANT_FP8_SCALES_H_
#define ADIT_QUANT_FP8_SCALES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace adit::quant {

// The rows and columns of a matrix of E4M3 that share a scale.
struct Fp8Blocks {
  int64_t rows = 1;  // 0: all
  int64_t cols = 0;  // a multiple of 32; 0: all of a row
};

// The scales of a matrix: the largest magnitude of each block becomes the largest number of E4M3.
class Fp8Scales {
 public:
  Fp8Scales(const Fp8Blocks& blocks, int64_t num_rows, int64_t num_cols);

  // Looks at row `row`: `weights` [num_cols]. Rows may be added at once by several threads, each once.
  void Add(int64_t row, const float* weights);
  // All rows have been added.
  void Finish();
  // 0 for a block of zeros, NaN for one with a weight that is not finite. Precondition: Finish was called.
  float Scale(int64_t row, int64_t col) const {
    return scales_[static_cast<size_t>(row * blocks_per_row_ + col / block_cols_)];
  }

 private:
  int64_t num_rows_;
  int64_t num_cols_;
  int64_t block_rows_;
  int64_t block_cols_;
  int64_t blocks_per_row_;
  std::vector<float> scales_;  // [num_rows, blocks_per_row]
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_FP8_SCALES_H_
