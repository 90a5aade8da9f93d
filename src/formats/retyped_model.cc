#include "formats/retyped_model.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "formats/ggml_type.h"
#include "tensor/encode.h"
#include "tensor/encode_search.h"

namespace adit::formats {
namespace {

constexpr std::string_view kEmbedding = "token_embd.weight";
constexpr std::string_view kOutput = "output.weight";

bool IsQuantized(DType dtype) { return Traits(dtype).block_elements > 1; }

// A norm of each head may be a matrix; it is none that anything is multiplied by.
bool IsMatrix(const TensorInfo& tensor) { return tensor.rank == 2 && !tensor.name.ends_with("_norm.weight"); }

// What has about as many bits in blocks of 32, or the fewest that there are, for rows that are no whole number of
// blocks of 256. As many bits as llama.cpp takes.
DType SubstituteFor(DType dtype) {
  switch (dtype) {
    case DType::kQ2_K:
    case DType::kQ3_K:
    case DType::kIQ4_XS:
    case DType::kTQ1_0:
    case DType::kTQ2_0:
      return DType::kIQ4_NL;
    case DType::kQ4_K:
      return DType::kQ5_0;
    case DType::kQ5_K:
      return DType::kQ5_1;
    case DType::kQ6_K:
      return DType::kQ8_0;
    default:
      return dtype;
  }
}

// Types that no file has are no reason to leave a tensor as it is when a file is wanted.
bool Stays(DType dtype, bool whole_file) {
  return IsQuantized(dtype) && !(whole_file && GgmlTypeOf(dtype).number == kNoGgmlNumber);
}

DType Fitting(const TensorInfo& tensor, DType wanted, bool whole_file) {
  if (Stays(tensor.dtype, whole_file)) return tensor.dtype;
  return FittingType(wanted, tensor.row_elements()).value_or(tensor.dtype);
}

DType TypeOf(const TensorInfo& tensor, const WeightTypes& types) {
  const bool is_embedding = tensor.name == kEmbedding;
  if (!IsMatrix(tensor) || (IsEmbeddingTable(tensor.name) && !(is_embedding && types.whole_file))) {
    return types.whole_file && !IsQuantized(tensor.dtype) ? DType::kF32 : tensor.dtype;
  }
  const bool gives_logits = is_embedding || tensor.name == kOutput;
  return Fitting(tensor, gives_logits ? types.output.value_or(types.matrices) : types.matrices, types.whole_file);
}

class RetypedModel final : public GgufFile {
 public:
  RetypedModel(std::unique_ptr<GgufFile> model, std::span<const TensorRetyping> tensors,
               std::optional<DType> tied_output)
      : model_(std::move(model)) {
    const std::span<const TensorInfo> origins = model_->tensors();
    for (size_t i = 0; i < origins.size(); ++i) Add(origins[i], origins[i].name, tensors[i]);
    if (tied_output) Add(*model_->Find(kEmbedding), kOutput, {.dtype = *tied_output});
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
  void Add(const TensorInfo& tensor, std::string_view name, const TensorRetyping& retyping) {
    TensorInfo info = tensor;
    info.name = name;
    if (retyping.dtype != tensor.dtype) {
      info.dtype = retyping.dtype;
      info.data = {};
    }
    tensors_.push_back(info);
    origins_.push_back({.tensor = &tensor, .retyping = retyping});
  }

  struct Origin {
    const TensorInfo* tensor = nullptr;
    TensorRetyping retyping;
  };

  // Constant after construction.
  std::unique_ptr<GgufFile> model_;
  std::vector<TensorInfo> tensors_;
  std::vector<Origin> origins_;
  std::unordered_map<std::string_view, size_t> index_;
};

void RetypedModel::ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const {
  const Origin& from = origins_[static_cast<size_t>(&tensor - tensors_.data())];
  const TensorInfo& origin = *from.tensor;
  if (tensor.dtype == origin.dtype) return model_->ReadRows(origin, first_row, num_rows, out);
  // A few rows at a time, so that the floats stay in the cache.
  constexpr int64_t kElements = 16384;
  const int64_t row_elements = tensor.row_elements();
  const int64_t step = std::max<int64_t>(1, kElements / row_elements);
  std::vector<float> floats(static_cast<size_t>(std::min(step, num_rows) * row_elements));
  std::vector<uint64_t> room;
  if (origin.is_computed()) room.resize(static_cast<size_t>(step) * origin.row_bytes() / sizeof(uint64_t) + 1);
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
    const float* importance = from.retyping.importance.empty() ? nullptr : from.retyping.importance.data();
    std::byte* to = out + static_cast<size_t>(row) * tensor.row_bytes();
    if (from.retyping.groups == nullptr) {
      EncodeRows(tensor.dtype, floats.data(), importance, to, count, row_elements);
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      EncodeGroups(*from.retyping.groups, floats.data() + i * row_elements, importance,
                   to + static_cast<size_t>(i) * tensor.row_bytes(), row_elements);
    }
  }
  if (origin.is_computed()) return;
  model_->Release(origin.data.subspan(static_cast<size_t>(first_row) * origin.row_bytes(),
                                      static_cast<size_t>(num_rows) * origin.row_bytes()));
}

}  // namespace

std::optional<DType> FittingType(DType wanted, int64_t row_elements) {
  for (const DType dtype : {wanted, SubstituteFor(wanted)}) {
    if (row_elements % Traits(dtype).block_elements == 0) return dtype;
  }
  return std::nullopt;
}

bool IsEmbeddingTable(std::string_view name) {
  return name == kEmbedding || name == "position_embd.weight" || name == "token_types.weight";
}

bool IsWeightMatrix(const TensorInfo& tensor) { return IsMatrix(tensor) && !IsEmbeddingTable(tensor.name); }

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
  std::vector<TensorRetyping> tensors;
  for (const TensorInfo& tensor : model->tensors()) tensors.push_back({.dtype = TypeOf(tensor, types)});
  const TensorInfo* embedding = model->Find(kEmbedding);
  std::optional<DType> tied_output;
  if (!types.whole_file && embedding != nullptr && model->Find(kOutput) == nullptr) {
    const DType dtype = Fitting(*embedding, types.output.value_or(types.matrices), types.whole_file);
    if (dtype != embedding->dtype) tied_output = dtype;
  }
  return std::unique_ptr<GgufFile>(std::make_unique<RetypedModel>(std::move(model), tensors, tied_output));
}

Result<std::unique_ptr<GgufFile>> Retyped(std::unique_ptr<GgufFile> model, std::span<const TensorRetyping> tensors) {
  const std::span<const TensorInfo> origins = model->tensors();
  ADIT_CHECK(tensors.size() == origins.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const DTypeTraits& traits = Traits(tensors[i].dtype);
    if (tensors[i].dtype == origins[i].dtype) continue;
    if (EncodeFor(tensors[i].dtype) == nullptr && tensors[i].groups == nullptr) {
      return Unsupported("{}: tensor '{}': this build cannot make weights of type {}", model->path(), origins[i].name,
                         traits.name);
    }
    if (origins[i].row_elements() % traits.block_elements == 0) continue;
    return InvalidArgument("{}: tensor '{}': rows of {} elements are no whole number of the blocks of {} of {}",
                           model->path(), origins[i].name, origins[i].row_elements(), traits.block_elements,
                           traits.name);
  }
  return std::unique_ptr<GgufFile>(std::make_unique<RetypedModel>(std::move(model), tensors, std::nullopt));
}

}  // namespace adit::formats
