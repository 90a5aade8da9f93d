#include "nn/hadamard.h"

#include <cmath>
#include <cstdint>

namespace adit::nn {

void SpreadVectors(float* x, int num_vectors, int dim) {
  const int order = dim & -dim;
  if (order < 2) return;
  const float norm = 1.0f / std::sqrt(static_cast<float>(order));
  const int64_t count = int64_t{num_vectors} * dim;
  for (int64_t i = 0; i < count; ++i) x[i] *= norm;
  // All matrices of all vectors at once: their order divides dim.
  for (int64_t half = 1; half < order; half *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * half) {
      float* low = x + begin;
      float* high = low + half;
      for (int64_t i = 0; i < half; ++i) {
        const float a = low[i];
        const float b = high[i];
        low[i] = a + b;
        high[i] = a - b;
      }
    }
  }
}

}  // namespace adit::nn
