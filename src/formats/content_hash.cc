#include "formats/content_hash.h"

#include "base/hash.h"

namespace adit::formats {

uint64_t ContentHash(const WeightSource& model) {
  Fnv1a hash;
  for (const TensorInfo& tensor : model.tensors()) {
    hash.Add(tensor.name.data(), tensor.name.size());
    hash.AddNumber(static_cast<int64_t>(tensor.dtype));
    hash.AddNumber(tensor.row_elements());
    hash.AddNumber(tensor.num_elements());
    if (tensor.rank == 1 && !tensor.is_computed()) hash.Add(tensor.data.data(), tensor.data.size());
  }
  return hash.value();
}

}  // namespace adit::formats
