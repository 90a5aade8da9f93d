#ifndef ADIT_QUANT_PACKED_FLOATS_H_
#define ADIT_QUANT_PACKED_FLOATS_H_

#include <cstdint>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "nn/exec_context.h"
#include "nn/linear.h"

namespace adit::quant {

// A matrix of floats to multiply by, with the memory that the kernels read.
class PackedFloats {
 public:
  PackedFloats() = default;
  // `rows` [num_rows, num_cols]. ResourceExhausted for memory.
  static Result<PackedFloats> Make(std::vector<float> rows, int64_t num_rows, int64_t num_cols,
                                   const nn::ExecContext& context);

  const nn::PackedMatrix& matrix() const { return matrix_; }

 private:
  nn::PackedMatrix matrix_;
  AlignedBuffer panels_;
  std::vector<float> rows_;  // where the kernels read rows as they are
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_PACKED_FLOATS_H_
