#ifndef ADIT_FORMATS_WEIGHT_SOURCE_H_
#define ADIT_FORMATS_WEIGHT_SOURCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace adit::formats {

inline constexpr int kMaxTensorRank = 4;

// A tensor inside an open file. Row-major, outermost dimension first: a matrix is [rows, cols].
struct TensorInfo {
  std::string_view name;
  DType dtype = DType::kF32;
  int rank = 0;
  std::array<int64_t, kMaxTensorRank> shape = {1, 1, 1, 1};  // beyond rank: 1
  // What the file calls its type where that is none of DType's; dtype is then what it is read as.
  std::string_view stored_type = {};
  // Its elements as they lie in memory, not necessarily aligned; empty for a matrix that is computed as it is read.
  std::span<const std::byte> data;

  int64_t num_elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  // A row is a stretch of the innermost dimension.
  int64_t row_elements() const { return rank == 0 ? 1 : shape[static_cast<size_t>(rank - 1)]; }
  int64_t num_rows() const { return num_elements() / row_elements(); }
  size_t row_bytes() const { return RowBytes(dtype, row_elements()); }
  size_t size_bytes() const { return row_bytes() * static_cast<size_t>(num_rows()); }
  bool is_computed() const { return data.empty(); }
};

// A matrix in a narrower type, which it has with its columns in another order: column k is column order[k] of the
// matrix.
struct ReorderedMatrix {
  const TensorInfo* tensor = nullptr;  // of the same shape; ReadRows takes it
  std::span<const int32_t> order;      // [columns]
};

// Where a model's weights come from. Everything it returns lives as long as it does. Thread-safe once open.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // The tensor of that name, or null.
  virtual const TensorInfo* Find(std::string_view name) const = 0;
  virtual std::span<const TensorInfo> tensors() const = 0;
  // For error messages.
  virtual const std::string& path() const = 0;
  // These bytes have been copied and their pages may leave memory; reading them again is allowed and reads the file.
  virtual void Release(std::span<const std::byte> bytes) const = 0;
  // Writes rows [first_row, first_row + num_rows) of one of its tensors, of row_bytes() each, to `out`, and leaves
  // no page of a file in memory for it: for rows that are read here and there.
  virtual void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const;
  // One of its tensors for whoever can gather what it is multiplied with; none for most.
  virtual std::optional<ReorderedMatrix> Reordered(const TensorInfo& /*tensor*/) const { return std::nullopt; }

 protected:
  // Copies a part of some tensor's data to `out`; from a file, not through its mapping.
  virtual void Copy(std::span<const std::byte> bytes, std::byte* out) const;
};

// All elements of a tensor of `source`, widened, in `out`.
void ReadFloats(const WeightSource& source, const TensorInfo& tensor, float* out);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_WEIGHT_SOURCE_H_
