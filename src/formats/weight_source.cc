#include "formats/weight_source.h"

#include <cstring>
#include <vector>

namespace adit::formats {

void WeightSource::ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const {
  if (num_rows == 0) return;
  const size_t row_bytes = tensor.row_bytes();
  Copy(tensor.data.subspan(static_cast<size_t>(first_row) * row_bytes, static_cast<size_t>(num_rows) * row_bytes), out);
}

void WeightSource::Copy(std::span<const std::byte> bytes, std::byte* out) const {
  std::memcpy(out, bytes.data(), bytes.size());
}

void ReadFloats(const WeightSource& source, const TensorInfo& tensor, float* out) {
  const DTypeTraits& traits = Traits(tensor.dtype);
  if (!tensor.is_computed()) {
    traits.decode(tensor.data.data(), out, tensor.num_elements());
    return;
  }
  // ReadRows wants room that is aligned for the elements.
  std::vector<uint64_t> room(tensor.size_bytes() / sizeof(uint64_t) + 1);
  auto* bytes = reinterpret_cast<std::byte*>(room.data());
  source.ReadRows(tensor, 0, tensor.num_rows(), bytes);
  traits.decode(bytes, out, tensor.num_elements());
}

}  // namespace adit::formats
