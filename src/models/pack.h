#ifndef ADIT_MODELS_PACK_H_
#define ADIT_MODELS_PACK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "formats/weight_source.h"
#include "models/weights.h"
#include "nn/exec_context.h"
#include "nn/linear.h"

namespace adit::models {

// A matrix and the rows of a tensor that it multiplies by, num_rows() of them from first_row on.
struct PendingMatrix {
  nn::PackedMatrix* matrix = nullptr;
  const formats::TensorInfo* tensor = nullptr;
  int64_t first_row = 0;
};

// Packs all of `matrices` into `packed`; they point into it from now on. Rows are read a few MB at a time, computed
// where the source computes them, and their pages are let go. ResourceExhausted when the memory cannot be had.
Status PackMatrices(const formats::WeightSource& source, const nn::ExecContext& context,
                    std::span<const PendingMatrix> matrices, AlignedBuffer& packed, const LoadProgress& progress);

// Rows of tensors in memory, for whoever reads them in place: where they lie, or computed once.
class RowsInPlace {
 public:
  explicit RowsInPlace(const formats::WeightSource& source) : source_(source) {}

  // All rows of `tensor`. ResourceExhausted when memory for computed ones cannot be had.
  Result<const std::byte*> Of(const formats::TensorInfo& tensor);
  // What has been computed; it holds the rows from now on.
  std::vector<AlignedBuffer> TakeBuffers() { return std::move(buffers_); }

 private:
  const formats::WeightSource& source_;
  std::map<const formats::TensorInfo*, const std::byte*> computed_;
  std::vector<AlignedBuffer> buffers_;
};

}  // namespace adit::models

#endif  // ADIT_MODELS_PACK_H_
