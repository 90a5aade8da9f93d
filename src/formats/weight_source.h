#ifndef ADIT_FORMATS_WEIGHT_SOURCE_H_
#define ADIT_FORMATS_WEIGHT_SOURCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
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
  std::span<const std::byte> data;                           // within the mapped file; not necessarily aligned

  int64_t num_elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
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
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_WEIGHT_SOURCE_H_
