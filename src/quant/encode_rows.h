#ifndef ADIT_QUANT_ENCODE_ROWS_H_
#define ADIT_QUANT_ENCODE_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/encode_groups.h"

namespace adit::quant {

// num_rows rows of `n` floats as blocks of `dtype`: with `groups` by EncodeGroups, whose type it is, else, where that
// is null, by EncodeRows (tensor/encode_search.h). `importance` [n] of columns, or null.
void EncodeRowsWith(DType dtype, const GroupScales* groups, const float* rows, const float* importance, std::byte* out,
                    int64_t num_rows, int64_t n);

}  // namespace adit::quant

#endif  // ADIT_QUANT_ENCODE_ROWS_H_
