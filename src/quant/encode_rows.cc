#include "quant/encode_rows.h"

#include "tensor/encode_search.h"

namespace adit::quant {

void EncodeRowsWith(DType dtype, const GroupScales* groups, const float* rows, const float* importance, std::byte* out,
                    int64_t num_rows, int64_t n) {
  if (groups == nullptr) return EncodeRows(dtype, rows, importance, out, num_rows, n);
  for (int64_t row = 0; row < num_rows; ++row) {
    EncodeGroups(*groups, rows + row * n, importance, out + static_cast<size_t>(row) * RowBytes(dtype, n), n);
  }
}

}  // namespace adit::quant
