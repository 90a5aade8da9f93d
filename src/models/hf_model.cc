#include "models/hf_model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/hf_tokenizer_keys.h"
#include "formats/quoted.h"
#include "models/hf_keys.h"
#include "models/hf_quantization.h"
#include "models/hf_quantized_matrix.h"
#include "models/hf_registry.h"
#include "models/hf_sampling_keys.h"
#include "tensor/encode.h"

namespace adit::models {
namespace {

using formats::SafetensorsTensor;
using formats::TensorInfo;

// The type in which a matrix of `type` is read: the narrowest that holds its elements.
DType ReadAs(const formats::SafetensorsType& type) {
  if (type.dtype) return *type.dtype;
  return type.name.starts_with("F8_") ? DType::kBF16 : DType::kF32;
}

// What a computed matrix is read from: a tensor, or the parts of a quantised one.
struct Origin {
  const formats::SafetensorsFile* file = nullptr;
  const SafetensorsTensor* tensor = nullptr;
  HfTensorRule rule;
  std::shared_ptr<const HfQuantizedMatrix> quantized = nullptr;
};

class HfModel final : public formats::GgufFile {
 public:
  explicit HfModel(formats::HfFolder folder) : folder_(std::move(folder)) {}

  Status Build();

  const TensorInfo* Find(std::string_view name) const override {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
  }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  const std::string& path() const override { return folder_.path(); }
  void Release(std::span<const std::byte> bytes) const override {
    for (const formats::SafetensorsFile& file : folder_.weights().files()) file.Release(bytes);
  }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override;
  void ReleaseHeader() const override {}
  const formats::GgufMetadata& metadata() const override { return metadata_; }
  uint32_t version() const override { return 0; }
  std::string Format() const override {
    const size_t count = folder_.weights().files().size();
    return fmt::format("Hugging Face folder, {} safetensors file{}", count, count == 1 ? "" : "s");
  }
  size_t size_bytes() const override { return folder_.weights().size_bytes(); }
  std::optional<formats::ReorderedMatrix> Reordered(const TensorInfo& tensor) const override {
    const auto found = reordered_.find(tensor.name);
    if (found == reordered_.end()) return std::nullopt;
    return formats::ReorderedMatrix{.tensor = &found->second.info,
                                    .order = found->second.origin.quantized->column_order()};
  }

 private:
  void Copy(std::span<const std::byte> bytes, std::byte* out) const override {
    for (const formats::SafetensorsFile& file : folder_.weights().files()) {
      if (file.Copy(bytes, out)) return;
    }
    GgufFile::Copy(bytes, out);
  }
  Status AddTensor(const HfTensorRules& rules, const formats::SafetensorsFile& file, const SafetensorsTensor& tensor);
  Status AddMatrix(std::string name, const Origin& origin);
  Status AddQuantized(const HfTensorRules& rules, const formats::SafetensorsFile& file, const std::string& module);
  Result<HfTensorRules::Match> Match(const HfTensorRules& rules, const std::string& file,
                                     const std::string& name) const;
  Status CheckPlace(const std::string& file, const std::string& name, const HfTensorRules::Match& match,
                    int64_t num_rows) const;
  Status AddVector(std::string name, const Origin& origin);
  void Add(std::string name, TensorInfo info, const Origin& origin);
  void AddFloats(std::string name, std::vector<float> values);

  // Constant after Build().
  formats::HfFolder folder_;
  formats::GgufMetadata metadata_;
  std::optional<HfQuantization> quantization_;
  std::vector<TensorInfo> tensors_;  // names are views of names_
  std::vector<Origin> origins_;      // of each tensor
  std::vector<std::unique_ptr<const std::string>> names_;
  std::vector<std::unique_ptr<const std::vector<float>>> computed_;  // small: norms, biases, divisors
  std::unordered_map<std::string_view, size_t> index_;
  // Quantised matrices whose columns may be read in another order.
  struct ReorderedTensor {
    TensorInfo info;
    Origin origin;
  };
  std::unordered_map<std::string_view, ReorderedTensor> reordered_;
};

void HfModel::Add(std::string name, TensorInfo info, const Origin& origin) {
  names_.push_back(std::make_unique<const std::string>(std::move(name)));
  info.name = *names_.back();
  index_.emplace(info.name, tensors_.size());
  tensors_.push_back(info);
  origins_.push_back(origin);
}

void HfModel::AddFloats(std::string name, std::vector<float> values) {
  computed_.push_back(std::make_unique<const std::vector<float>>(std::move(values)));
  const std::vector<float>& kept = *computed_.back();
  Add(std::move(name),
      {.dtype = DType::kF32,
       .rank = 1,
       .shape = {static_cast<int64_t>(kept.size()), 1, 1, 1},
       .data = std::as_bytes(std::span(kept))},
      {});
}

// Norms and biases: small enough to be copied where they are not used as they lie there.
Status HfModel::AddVector(std::string name, const Origin& origin) {
  const SafetensorsTensor& tensor = *origin.tensor;
  const int64_t size = tensor.shape[0];
  if (origin.rule.transform == HfTransform::kNone && tensor.type->dtype) {
    Add(std::move(name), {.dtype = *tensor.type->dtype, .rank = 1, .shape = {size, 1, 1, 1}, .data = tensor.data}, {});
    return Status();
  }
  std::vector<float> stored(static_cast<size_t>(size));
  const auto decode = tensor.type->dtype ? Traits(*tensor.type->dtype).decode : tensor.type->decode;
  decode(tensor.data.data(), stored.data(), size);
  std::vector<float> values(stored.size());
  for (int64_t i = 0; i < size; ++i) {
    const HfTransform transform = origin.rule.transform;
    const bool moves = transform == HfTransform::kInterleaveHeads || transform == HfTransform::kGroupQkv;
    const int64_t from = moves ? HfSourceRow(origin.rule, i, size) : i;
    values[static_cast<size_t>(i)] =
        stored[static_cast<size_t>(from)] + (transform == HfTransform::kAddOne ? 1.0f : 0.0f);
  }
  AddFloats(std::move(name), std::move(values));
  return Status();
}

Status HfModel::AddMatrix(std::string name, const Origin& origin) {
  const SafetensorsTensor& tensor = *origin.tensor;
  TensorInfo info{.dtype = ReadAs(*tensor.type), .rank = 2, .shape = {tensor.shape[0], tensor.shape[1], 1, 1}};
  if (!tensor.type->dtype) info.stored_type = tensor.type->name;
  if (origin.rule.transform == HfTransform::kTranspose) std::swap(info.shape[0], info.shape[1]);
  if (origin.rule.transform == HfTransform::kNone && tensor.type->dtype) info.data = tensor.data;
  Add(std::move(name), info, origin);
  return Status();
}

Result<HfTensorRules::Match> HfModel::Match(const HfTensorRules& rules, const std::string& file,
                                            const std::string& name) const {
  HfTensorRules::Match match = rules.Find(name);
  if (match.rule != nullptr) return match;
  return Unsupported("{}: tensor {} has no place in a {} model as this build knows it", file, formats::Quoted(name),
                     metadata_.GetString("general.architecture").value());
}

// What the rule asks of a tensor of num_rows rows.
Status HfModel::CheckPlace(const std::string& file, const std::string& name, const HfTensorRules::Match& match,
                           int64_t num_rows) const {
  const HfTensorRule& rule = *match.rule;
  const bool by_head = rule.transform == HfTransform::kInterleaveHeads || rule.transform == HfTransform::kGroupQkv;
  const int64_t unit = rule.num_heads * (rule.transform == HfTransform::kGroupQkv ? 3 : 2);
  if (by_head && num_rows % unit != 0) {
    return Corrupt("{}: tensor {} has {} rows, wanted a multiple of {} for its {} heads", file, formats::Quoted(name),
                   num_rows, unit, rule.num_heads);
  }
  if (!index_.contains(match.gguf_name)) return Status();
  return Corrupt("{}: tensor {} stands for {}, which another tensor is already", file, formats::Quoted(name),
                 match.gguf_name);
}

Status HfModel::AddQuantized(const HfTensorRules& rules, const formats::SafetensorsFile& file,
                             const std::string& module) {
  const std::string name = module + ".weight";
  ADIT_ASSIGN_OR_RETURN(HfTensorRules::Match match, Match(rules, file.path(), name));
  if (match.rule->transform == HfTransform::kIgnore) return Status();
  if (match.rule->transform == HfTransform::kTranspose) {
    return Unsupported("{}: {} is quantised, and its checkpoint holds it transposed", file.path(),
                       formats::Quoted(name));
  }
  Result<HfQuantizedMatrix> made = HfQuantizedMatrix::Make(*quantization_, module, folder_.weights());
  if (!made.ok()) return Status(made.status().code(), file.path() + ": " + made.status().message());
  auto matrix = std::make_shared<const HfQuantizedMatrix>(*std::move(made));
  ADIT_RETURN_IF_ERROR(CheckPlace(file.path(), name, match, matrix->rows()));
  const TensorInfo info{.dtype = matrix->dtype(),
                        .rank = 2,
                        .shape = {matrix->rows(), matrix->cols(), 1, 1},
                        .stored_type = matrix->stored_type()};
  const bool has_order = !matrix->column_order().empty();
  Add(std::move(match.gguf_name), info, {.file = &file, .rule = *match.rule, .quantized = std::move(matrix)});
  if (!has_order) return Status();
  ReorderedTensor reordered{.info = tensors_.back(), .origin = origins_.back()};
  reordered.info.dtype = reordered.origin.quantized->reordered_dtype();
  reordered_.emplace(reordered.info.name, std::move(reordered));
  return Status();
}

Status HfModel::AddTensor(const HfTensorRules& rules, const formats::SafetensorsFile& file,
                          const SafetensorsTensor& tensor) {
  if (quantization_) {
    std::string module;
    if (HfQuantizedMatrix::IsMainTensor(*quantization_, tensor, folder_.weights(), module)) {
      return AddQuantized(rules, file, module);
    }
    if (HfQuantizedMatrix::IsPart(tensor.name)) return Status();
  }
  ADIT_ASSIGN_OR_RETURN(HfTensorRules::Match match, Match(rules, file.path(), tensor.name));
  if (match.rule->transform == HfTransform::kIgnore) return Status();
  const std::string quoted = formats::Quoted(tensor.name);
  if (!tensor.type->is_real()) {
    return Unsupported("{}: tensor {}: weights of type {} are not supported", file.path(), quoted, tensor.type->name);
  }
  const size_t rank = tensor.shape.size();
  if (rank < 1 || rank > 2 || tensor.num_elements() == 0) {
    return Corrupt("{}: tensor {} has {} dimensions and {} elements, wanted a vector or a matrix", file.path(), quoted,
                   rank, tensor.num_elements());
  }
  ADIT_RETURN_IF_ERROR(CheckPlace(file.path(), tensor.name, match, tensor.shape[0]));
  const Origin origin{.file = &file, .tensor = &tensor, .rule = *match.rule};
  return rank == 1 ? AddVector(std::move(match.gguf_name), origin) : AddMatrix(std::move(match.gguf_name), origin);
}

Status HfModel::Build() {
  ADIT_ASSIGN_OR_RETURN(quantization_, ReadHfQuantization(folder_.config()));
  ADIT_ASSIGN_OR_RETURN(HfKeys keys, ReadHfConfig(folder_));
  // What GGUF has no keys for is told when the tokenizer is wanted.
  if (Result<formats::GgufValues> tokenizer = formats::HfTokenizerKeys(folder_); tokenizer.ok()) {
    keys.values().merge(*tokenizer);
  }
  ADIT_RETURN_IF_ERROR(AddSamplingKeys(folder_, keys.values()));
  metadata_ = formats::GgufMetadata(folder_.path(), std::move(keys.values()));
  for (const formats::SafetensorsFile& file : folder_.weights().files()) {
    for (const SafetensorsTensor& tensor : file.tensors())
      ADIT_RETURN_IF_ERROR(AddTensor(keys.tensors(), file, tensor));
  }
  for (const std::string& name : keys.required()) {
    if (!index_.contains(name)) return Corrupt("{}: no tensor of the checkpoint stands for {}", folder_.path(), name);
  }
  for (HfComputedTensor& tensor : keys.computed()) AddFloats(std::move(tensor.name), std::move(tensor.values));
  return Status();
}

// One column after another of the checkpoint's matrix, as rows.
void ReadTransposed(const SafetensorsTensor& tensor, int64_t first_row, int64_t num_rows, int64_t num_cols,
                    std::byte* out) {
  const auto element_bytes = static_cast<size_t>(tensor.type->element_bytes);
  const auto stride = static_cast<size_t>(tensor.shape[1]) * element_bytes;
  // In the order in which they lie in the file.
  for (int64_t col = 0; col < num_cols; ++col) {
    const std::byte* from = tensor.data.data() + static_cast<size_t>(col) * stride;
    for (int64_t row = 0; row < num_rows; ++row) {
      std::memcpy(out + static_cast<size_t>(row * num_cols + col) * element_bytes,
                  from + static_cast<size_t>(first_row + row) * element_bytes, element_bytes);
    }
  }
}

void ReadQuantized(const Origin& origin, bool reordered, int64_t total_rows, int64_t first_row, int64_t num_rows,
                   std::byte* out) {
  const bool moves = origin.rule.transform != HfTransform::kNone;
  std::vector<int64_t> rows(static_cast<size_t>(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    rows[static_cast<size_t>(i)] = moves ? HfSourceRow(origin.rule, first_row + i, total_rows) : first_row + i;
  }
  if (reordered) {
    origin.quantized->ReadReordered(rows, out);
  } else {
    origin.quantized->ReadRows(rows, out);
  }
}

void HfModel::ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const {
  if (!tensor.is_computed()) return WeightSource::ReadRows(tensor, first_row, num_rows, out);
  if (const auto found = reordered_.find(tensor.name); found != reordered_.end() && &found->second.info == &tensor) {
    return ReadQuantized(found->second.origin, /*reordered=*/true, tensor.shape[0], first_row, num_rows, out);
  }
  const Origin& origin = origins_[static_cast<size_t>(&tensor - tensors_.data())];
  if (origin.quantized != nullptr) {
    return ReadQuantized(origin, /*reordered=*/false, tensor.shape[0], first_row, num_rows, out);
  }
  const SafetensorsTensor& source = *origin.tensor;
  const int64_t num_cols = tensor.shape[1];
  const auto source_row_bytes = static_cast<size_t>(source.shape[1]) * static_cast<size_t>(source.type->element_bytes);
  std::vector<std::byte> raw;  // rows in the checkpoint's type, where it is no weight type
  std::byte* rows = out;
  if (!source.type->dtype) {
    raw.resize(static_cast<size_t>(num_rows * num_cols) * static_cast<size_t>(source.type->element_bytes));
    rows = raw.data();
  }
  if (origin.rule.transform == HfTransform::kTranspose) {
    ReadTransposed(source, first_row, num_rows, num_cols, rows);
  } else {
    const bool moves = origin.rule.transform != HfTransform::kNone && origin.rule.transform != HfTransform::kAddOne;
    for (int64_t i = 0; i < num_rows; ++i) {
      const int64_t row = moves ? HfSourceRow(origin.rule, first_row + i, tensor.shape[0]) : first_row + i;
      const std::span<const std::byte> bytes =
          source.data.subspan(static_cast<size_t>(row) * source_row_bytes, source_row_bytes);
      std::memcpy(rows + static_cast<size_t>(i) * source_row_bytes, bytes.data(), bytes.size());
    }
    // Rows move within their head or their third, so what these came from is mostly read; the rest is read again.
    origin.file->Release(source.data.subspan(static_cast<size_t>(first_row) * source_row_bytes,
                                             static_cast<size_t>(num_rows) * source_row_bytes));
  }
  if (source.type->dtype) return;
  std::vector<float> floats(static_cast<size_t>(num_rows * num_cols));
  source.type->decode(raw.data(), floats.data(), num_rows * num_cols);
  EncodeFor(tensor.dtype)(floats.data(), out, num_rows * num_cols);
}

}  // namespace

Result<std::unique_ptr<formats::GgufFile>> OpenHfModel(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(formats::HfFolder folder, formats::HfFolder::Open(path));
  auto model = std::make_unique<HfModel>(std::move(folder));
  ADIT_RETURN_IF_ERROR(model->Build());
  return std::unique_ptr<formats::GgufFile>(std::move(model));
}

Result<std::unique_ptr<formats::GgufFile>> OpenModelFiles(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return OpenHfModel(path);
  return formats::GgufFile::Open(path);
}

}  // namespace adit::models
