#ifndef ADIT_TENSOR_ENCODE_GROUPS_H_
#define ADIT_TENSOR_ENCODE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace adit {

// How the checkpoints of GPTQ, AWQ and compressed-tensors round the weights of a row to whole numbers: x is about
// scale * (code - zero), with a scale and a zero for each group of neighbouring columns. In memory that is Int4 (2 to 4
// bits) or Int8, all blocks of a group with the same scale and zero.
struct GroupScales {
  int bits = 4;             // 2, 3, 4 or 8
  int64_t group_size = 0;   // columns, a multiple of 32; 0: all of a row
  bool symmetric = true;    // the zero is the middle code; always with 8 bits
  int least_zero = 0;       // of the others: GPTQ's first version, which stores zeros less one, has no 0
  bool half_scales = true;  // scales are numbers of half precision, as Int4 always has them
  bool narrows = true;      // given importance, scales may leave a group's largest weights out of reach

  DType dtype() const { return bits == 8 ? DType::kInt8 : DType::kInt4; }
  int num_codes() const { return 1 << bits; }
};

// One row of `num_cols` floats, whole groups, as blocks at `out`. Without `importance` [num_cols] the scale spans the
// largest magnitude, or the range; with it, if `narrows`, narrower ones are tried, each fitted to the codes it gives,
// and the one is taken that makes the sum of squares of the errors, each by its column's importance, least. A group
// with an infinity or a NaN gets the scale NaN.
void EncodeGroups(const GroupScales& groups, const float* row, const float* importance, std::byte* out,
                  int64_t num_cols) noexcept;

// Multiplies the scales of a row that EncodeGroups has written by `factors`, one for each group; codes and zeros stay.
void MultiplyScales(const GroupScales& groups, std::span<const double> factors, std::byte* row,
                    int64_t num_cols) noexcept;

}  // namespace adit

#endif  // ADIT_TENSOR_ENCODE_GROUPS_H_
