#include "quant/packed_floats.h"

#include <utility>

namespace adit::quant {

Result<PackedFloats> PackedFloats::Make(std::vector<float> rows, int64_t num_rows, int64_t num_cols,
                                        const nn::ExecContext& context) {
  PackedFloats packed;
  nn::PackedMatrix& matrix = packed.matrix_;
  matrix = nn::PackedMatrix(context.kernels, DType::kF32, num_rows, num_cols);
  if (matrix.needs_packing()) {
    ADIT_ASSIGN_OR_RETURN(packed.panels_, AlignedBuffer::Allocate(matrix.packed_bytes(), "quantisation"));
    matrix.PackRows(reinterpret_cast<const std::byte*>(rows.data()), num_rows, packed.panels_.data());
    matrix.set_data(packed.panels_.data());
  } else {
    packed.rows_ = std::move(rows);
    matrix.set_data(reinterpret_cast<const std::byte*>(packed.rows_.data()));
  }
  return packed;
}

}  // namespace adit::quant
