#ifndef ADIT_QUANT_ROUNDED_LAYER_H_
#define ADIT_QUANT_ROUNDED_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/weight_source.h"

namespace adit::quant {

// The tensors of one layer as they have become, in memory, over those of a model.
class RoundedLayer final : public formats::WeightSource {
 public:
  // `model` outlives this.
  explicit RoundedLayer(const formats::WeightSource& model) : model_(model) {}

  // `bytes` are `tensor` in another type.
  void Add(const formats::TensorInfo& tensor, DType dtype, std::vector<std::byte> bytes);
  // Of the inputs of the layer's matrices, by their kinds (LayerInput), the largest magnitude; empty: it was not asked
  // for.
  std::vector<float> largest_inputs;

  // Calls `take` with each tensor that was added, its bytes in `data`.
  void ForEach(const std::function<void(const formats::TensorInfo& tensor)>& take) const;
  bool Has(std::string_view name) const { return entries_.contains(name); }

  const formats::TensorInfo* Find(std::string_view name) const override;
  std::span<const formats::TensorInfo> tensors() const override { return model_.tensors(); }
  const std::string& path() const override { return model_.path(); }
  void Release(std::span<const std::byte> bytes) const override;
  void ReadRows(const formats::TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override;

 private:
  struct Entry {
    formats::TensorInfo info;
    std::vector<std::byte> bytes;
  };
  const formats::WeightSource& model_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_ROUNDED_LAYER_H_
