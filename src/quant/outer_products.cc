#include "quant/outer_products.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "nn/linear.h"

namespace adit::quant {

Status AddOuterProducts(const std::vector<float>& v, int64_t n, int64_t k, float sign, const nn::ExecContext& context,
                        float* a, int64_t stride) {
  nn::PackedMatrix matrix(context.kernels, DType::kF32, n, k);
  AlignedBuffer packed;
  if (matrix.needs_packing()) {
    ADIT_ASSIGN_OR_RETURN(packed, AlignedBuffer::Allocate(matrix.packed_bytes(), "products of activations"));
    matrix.PackRows(reinterpret_cast<const std::byte*>(v.data()), n, packed.data());
    matrix.set_data(packed.data());
  } else {
    matrix.set_data(reinterpret_cast<const std::byte*>(v.data()));
  }
  std::vector<float> rows(v);
  if (sign != 1.0f) std::ranges::transform(rows, rows.begin(), [sign](float x) { return sign * x; });
  // Rows of A are the tokens of a product, a few at a time, with as many outputs as reach the diagonal.
  constexpr int64_t kRows = 48;
  const int64_t panel_rows = matrix.panel_rows();
  context.team.Run([&](Worker& worker) {
    for (int64_t piece; (piece = worker.Claim()) * kRows < n;) {
      // The long ones first.
      const int64_t begin = (n - 1) / kRows * kRows - piece * kRows;
      const int64_t end = std::min(begin + kRows, n);
      matrix.Multiply({.activations = {.f32 = rows.data() + begin * k, .f32_stride = k},
                       .num_tokens = end - begin,
                       .out = a + begin * stride,
                       .out_stride = stride,
                       .accumulate = true},
                      0, std::min((end + panel_rows - 1) / panel_rows, matrix.num_panels()));
    }
  });
  return Status();
}

}  // namespace adit::quant
