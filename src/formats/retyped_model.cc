#include "formats/retyped_model.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tensor/encode.h"

namespace adit::formats {
namespace {

constexpr std::string_view kEmbedding = "token_embd.weight";
constexpr std::string_view kOutput = "output.weight";

// Tables that are read a row at a time, and whose rows are added, not multiplied by.
bool IsTable(std::string_view name) {
  return name == kEmbedding || name == "position_embd.weight" || name == "token_types.weight";
}

bool IsQuantized(DType dtype) { return Traits(dtype).block_elements > 1; }

// A norm of each head may be a matrix; it is none that anything is multiplied by.
bool IsMatrix(const TensorInfo& tensor) { return tensor.rank == 2 && !tensor.name.ends_with("_norm.weight"); }

class RetypedModel final : public GgufFile {
 public:
  RetypedModel(std::unique_ptr<GgufFile> model, const WeightTypes& types) : model_(std::move(model)) {
    for (const TensorInfo& tensor : model_->tensors()) Add(tensor, tensor.name, TypeOf(tensor, types));
    const TensorInfo* embedding = model_->Find(kEmbedding);
    if (!types.whole_file && embedding != nullptr && model_->Find(kOutput) == nullptr) {
      const DType dtype = Fitting(*embedding, types.output.value_or(types.matrices));
      if (dtype != embedding->dtype) Add(*embedding, kOutput, dtype);
    }
    for (size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
  }

  const TensorInfo* Find(std::string_view name) const override {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
  }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  const std::string& path() const override { return model_->path(); }
  void Release(std::span<const std::byte> bytes) const override { model_->Release(bytes); }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override;
  void ReleaseHeader() const override { model_->ReleaseHeader(); }
  const GgufMetadata& metadata() const override { return model_->metadata(); }
  uint32_t version() const override { return model_->version(); }
  std::string Format() const override { return model_->Format(); }
  size_t size_bytes() const override { return model_->size_bytes(); }

 private:
  static DType Fitting(const TensorInfo& tensor, DType wanted) {
    if (IsQuantized(tensor.dtype) || tensor.row_elements() % Traits(wanted).block_elements != 0) return tensor.dtype;
    return wanted;
  }

  static DType TypeOf(const TensorInfo& tensor, const WeightTypes& types) {
    const bool is_embedding = tensor.name == kEmbedding;
    if (!IsMatrix(tensor) || (IsTable(tensor.name) && !(is_embedding && types.whole_file))) {
      return types.whole_file && !IsQuantized(tensor.dtype) ? DType::kF32 : tensor.dtype;
    }
    const bool gives_logits = is_embedding || tensor.name == kOutput;
    return Fitting(tensor, gives_logits ? types.output.value_or(types.matrices) : types.matrices);
  }

  void Add(const TensorInfo& tensor, std::string_view name, DType dtype) {
    TensorInfo info = tensor;
    info.name = name;
    if (dtype != tensor.dtype) {
      info.dtype = dtype;
      info.data = {};
    }
    tensors_.push_back(info);
    origins_.push_back(&tensor);
  }

  // Constant after construction.
  std::unique_ptr<GgufFile> model_;
  std::vector<TensorInfo> tensors_;
  std::vector<const TensorInfo*> origins_;
  std::unordered_map<std::string_view, size_t> index_;
};

void RetypedModel::ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const {
  const TensorInfo& origin = *origins_[static_cast<size_t>(&tensor - tensors_.data())];
  if (tensor.dtype == origin.dtype) return model_->ReadRows(origin, first_row, num_rows, out);
  // A few rows at a time, so that the floats stay in the cache.
  constexpr int64_t kElements = 16384;
  const int64_t row_elements = tensor.row_elements();
  const int64_t step = std::max<int64_t>(1, kElements / row_elements);
  std::vector<float> floats(static_cast<size_t>(std::min(step, num_rows) * row_elements));
  std::vector<uint64_t> room;
  if (origin.is_computed()) room.resize(static_cast<size_t>(step) * origin.row_bytes() / sizeof(uint64_t) + 1);
  const EncodeFunction encode = EncodeFor(tensor.dtype);
  for (int64_t row = 0; row < num_rows; row += step) {
    const int64_t count = std::min(step, num_rows - row);
    const std::byte* rows = nullptr;
    if (origin.is_computed()) {
      auto* bytes = reinterpret_cast<std::byte*>(room.data());
      model_->ReadRows(origin, first_row + row, count, bytes);
      rows = bytes;
    } else {
      rows = origin.data.data() + static_cast<size_t>(first_row + row) * origin.row_bytes();
    }
    Traits(origin.dtype).decode(rows, floats.data(), count * row_elements);
    encode(floats.data(), out + static_cast<size_t>(row) * tensor.row_bytes(), count * row_elements);
  }
  if (origin.is_computed()) return;
  model_->Release(origin.data.subspan(static_cast<size_t>(first_row) * origin.row_bytes(),
                                      static_cast<size_t>(num_rows) * origin.row_bytes()));
}

}  // namespace

WeightTypes TypesForQuantization(DType matrices) {
  const DTypeTraits& traits = Traits(matrices);
  const bool below_8_bits = traits.block_bytes * 8 < traits.block_elements * 8;
  return {.matrices = matrices, .output = below_8_bits ? std::optional(DType::kQ8_0) : std::nullopt};
}

Result<std::unique_ptr<GgufFile>> Retyped(std::unique_ptr<GgufFile> model, const WeightTypes& types) {
  for (const DType dtype : {types.matrices, types.output.value_or(types.matrices)}) {
    if (EncodeFor(dtype) != nullptr) continue;
    return Unsupported("{}: this build cannot make weights of type {}", model->path(), Traits(dtype).name);
  }
  return std::unique_ptr<GgufFile>(std::make_unique<RetypedModel>(std::move(model), types));
}

}  // namespace adit::formats
