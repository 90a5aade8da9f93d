#include "engine/hf_export.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "engine/hf_folder_files.h"
#include "formats/json_text.h"
#include "formats/model_folder_writer.h"
#include "formats/quoted.h"
#include "formats/retyped_model.h"
#include "formats/safetensors_type.h"
#include "models/hf_registry.h"
#include "models/hf_tensors.h"
#include "tensor/encode.h"

namespace adit::engine {
namespace {

using formats::Json;
using formats::SafetensorsPlan;
using formats::TensorInfo;
using models::HfTransform;

// Elements of rows that are made at once.
constexpr int64_t kPieceElements = int64_t{1} << 20;

struct FloatType {
  DType dtype;
  const char* safetensors_name;
  const char* torch_name;
};
constexpr FloatType kFloatTypes[] = {
    {DType::kF32, "F32", "float32"}, {DType::kF16, "F16", "float16"}, {DType::kBF16, "BF16", "bfloat16"}};

const FloatType* FindFloatType(DType dtype) {
  const auto* found = std::ranges::find(kFloatTypes, dtype, &FloatType::dtype);
  return found == std::end(kFloatTypes) ? nullptr : found;
}

// A tensor of the model and what it becomes.
struct HfTensor {
  const TensorInfo* tensor = nullptr;
  models::HfTensorRule rule;
  std::string name;  // in the folder
  bool is_packed = false;
  DType dtype = DType::kF32;  // where it is not
  std::vector<SafetensorsPlan> plans;

  models::HfMatrix matrix() const {
    return {.module = name.substr(0, name.size() - std::string_view(".weight").size()),
            .rows = tensor->shape[0],
            .cols = tensor->shape[1]};
  }
};

class HfFolderExport {
 public:
  HfFolderExport(const formats::GgufFile& model, const HfExportOptions& options, WorkerTeam& team,
                 const ExportHooks& hooks)
      : model_(model), options_(options), team_(team), hooks_(hooks) {}

  Result<size_t> Write(const std::string& path);

 private:
  Status PlanTensors();
  Status PlanTensor(const TensorInfo& tensor, const models::HfTensorRules& rules);
  bool IsPacked(const TensorInfo& tensor) const {
    return options_.packing && tensor.name.starts_with("blk.") && formats::IsWeightMatrix(tensor);
  }
  DType TypeFor(const TensorInfo& tensor) const;
  bool FitsExactly(const TensorInfo& tensor, DType dtype, bool less_one) const;
  Json Config() const;
  DType UsualDType() const;
  Status WriteTensor(const HfTensor& tensor, formats::ModelFolderWriter& writer);
  Status WritePacked(const HfTensor& tensor, formats::ModelFolderWriter& writer);
  Status WriteTransposed(const HfTensor& tensor, formats::ModelFolderWriter& writer);
  void ReadFloatRows(const HfTensor& tensor, std::span<const int64_t> order, int64_t first, int64_t count,
                     float* out) const;
  Status Told(size_t num_bytes);

  const formats::GgufFile& model_;
  const HfExportOptions& options_;
  WorkerTeam& team_;
  const ExportHooks& hooks_;
  HfFolderFiles files_;
  std::vector<HfTensor> tensors_;
  size_t total_bytes_ = 0;
  size_t written_bytes_ = 0;
};

DType HfFolderExport::TypeFor(const TensorInfo& tensor) const {
  const bool is_float = FindFloatType(tensor.dtype) != nullptr;
  return options_.dtype.value_or(is_float ? tensor.dtype : DType::kF16);
}

// Norms and biases become what the matrices are only where that loses nothing.
bool HfFolderExport::FitsExactly(const TensorInfo& tensor, DType dtype, bool less_one) const {
  std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
  formats::ReadFloats(model_, tensor, values.data());
  for (float& value : values) value -= less_one ? 1.0f : 0.0f;
  std::vector<std::byte> bytes(RowBytes(dtype, tensor.num_elements()));
  EncodeFor(dtype)(values.data(), bytes.data(), tensor.num_elements());
  std::vector<float> back(values.size());
  Traits(dtype).decode(bytes.data(), back.data(), tensor.num_elements());
  return std::ranges::equal(values, back);
}

// The float type that most elements of matrices are written in, but for those that are quantised.
DType HfFolderExport::UsualDType() const {
  std::map<DType, int64_t> elements;
  for (const TensorInfo& tensor : model_.tensors()) {
    if (tensor.rank == 2 && !IsPacked(tensor)) elements[TypeFor(tensor)] += tensor.num_elements();
  }
  const auto most = std::ranges::max_element(elements, {}, [](const auto& entry) { return entry.second; });
  return most == elements.end() ? DType::kF32 : most->first;
}

Status HfFolderExport::PlanTensor(const TensorInfo& tensor, const models::HfTensorRules& rules) {
  models::HfTensorRules::Origin origin = rules.FindOrigin(tensor.name);
  if (origin.rule == nullptr) {
    return Unsupported("{}: tensor {} has no place in a Hugging Face folder of this family", model_.path(),
                       formats::Quoted(std::string(tensor.name)));
  }
  HfTensor out{.tensor = &tensor, .rule = *origin.rule, .name = std::move(origin.hf_name), .plans = {}};
  out.is_packed = IsPacked(tensor);
  if (out.is_packed) {
    if (out.rule.transform == HfTransform::kTranspose || !out.name.ends_with(".weight")) {
      return Unsupported(
          "{}: {} is no matrix of outputs by inputs in such a folder, as quantised checkpoints have them",
          model_.path(), formats::Quoted(out.name));
    }
    ADIT_ASSIGN_OR_RETURN(out.plans, models::HfPackedPlans(*options_.packing, out.matrix()));
  } else {
    // What is made while it is written is known to have its own type alone.
    out.dtype = TypeFor(tensor);
    const bool less_one = out.rule.transform == HfTransform::kAddOne;
    if (tensor.rank == 1) {
      const DType wanted = options_.dtype.value_or(UsualDType());
      out.dtype = !tensor.is_computed() && FitsExactly(tensor, wanted, less_one) ? wanted : DType::kF32;
    }
    std::vector<int64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
    if (out.rule.transform == HfTransform::kTranspose) std::ranges::reverse(shape);
    out.plans = {{.name = out.name,
                  .type = formats::FindSafetensorsType(FindFloatType(out.dtype)->safetensors_name),
                  .shape = std::move(shape)}};
  }
  for (const SafetensorsPlan& plan : out.plans) total_bytes_ += plan.size_bytes();
  tensors_.push_back(std::move(out));
  return Status();
}

Status HfFolderExport::PlanTensors() {
  const formats::HfFolder described = formats::HfFolder::Of(files_.config, Json(Json::Object()));
  ADIT_ASSIGN_OR_RETURN(models::HfKeys keys, models::ReadHfConfig(described));
  for (const TensorInfo& tensor : model_.tensors()) {
    // What follows from config.json is in no checkpoint.
    const bool is_computed = std::ranges::any_of(
        keys.computed(), [&](const models::HfComputedTensor& other) { return other.name == tensor.name; });
    if (!is_computed) ADIT_RETURN_IF_ERROR(PlanTensor(tensor, keys.tensors()));
  }
  return Status();
}

Json HfFolderExport::Config() const {
  Json config = files_.config;
  Json::Object& members = *config.AsObject();
  const auto set = [&members](const char* name, Json value) {
    const auto found = std::ranges::find_if(members, [name](const auto& member) { return member.first == name; });
    if (found != members.end()) {
      found->second = std::move(value);
    } else {
      members.emplace_back(name, std::move(value));
    }
  };
  // As transformers calls it from version 5 on, where the folder has that already.
  const char* key = files_.config.Find("dtype") != nullptr ? "dtype" : "torch_dtype";
  set(key, Json(std::string(FindFloatType(UsualDType())->torch_name)));
  if (options_.packing) {
    const std::vector<std::string> unquantized = {"lm_head"};
    set("quantization_config", models::HfQuantizationConfig(*options_.packing, unquantized));
  }
  return config;
}

Status HfFolderExport::Told(size_t num_bytes) {
  written_bytes_ += num_bytes;
  if (!hooks_.progress) return Status();
  return hooks_.progress(static_cast<double>(written_bytes_) / static_cast<double>(total_bytes_));
}

// Rows [first, first + count) in the folder's order, `order` giving each one's row of the model, where that differs.
void HfFolderExport::ReadFloatRows(const HfTensor& tensor, std::span<const int64_t> order, int64_t first, int64_t count,
                                   float* out) const {
  const TensorInfo& info = *tensor.tensor;
  const int64_t n = info.row_elements();
  std::vector<uint64_t> room(static_cast<size_t>(count) * info.row_bytes() / sizeof(uint64_t) + 1);
  auto* bytes = reinterpret_cast<std::byte*>(room.data());
  if (order.empty()) {
    model_.ReadRows(info, first, count, bytes);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      model_.ReadRows(info, order[static_cast<size_t>(first + i)], 1,
                      bytes + static_cast<size_t>(i) * info.row_bytes());
    }
  }
  Traits(info.dtype).decode(bytes, out, count * n);
  if (tensor.rule.transform != HfTransform::kAddOne) return;
  for (int64_t i = 0; i < count * n; ++i) out[i] -= 1.0f;
}

Status HfFolderExport::WriteTensor(const HfTensor& tensor, formats::ModelFolderWriter& writer) {
  if (hooks_.prepare) ADIT_RETURN_IF_ERROR(hooks_.prepare(*tensor.tensor));
  if (tensor.is_packed) return WritePacked(tensor, writer);
  if (tensor.rule.transform == HfTransform::kTranspose) return WriteTransposed(tensor, writer);
  const TensorInfo& info = *tensor.tensor;
  // The elements of a vector may stand in another order, so that each is a row.
  const bool is_vector = info.rank == 1;
  const int64_t num_rows = is_vector ? 1 : info.num_rows();
  const int64_t n = info.row_elements();
  const std::vector<int64_t> order = models::HfRowOrder(tensor.rule, is_vector ? n : num_rows);
  const int64_t step = std::max<int64_t>(1, kPieceElements / n);
  const size_t row_bytes = RowBytes(tensor.dtype, n);
  std::vector<std::byte> piece(static_cast<size_t>(std::min(step, num_rows)) * row_bytes);
  for (int64_t first = 0; first < num_rows; first += step) {
    const int64_t count = std::min(step, num_rows - first);
    const int64_t share = std::max<int64_t>(1, count / (team_.size() * 4));
    team_.Run([&](Worker& worker) {
      std::vector<float> floats(static_cast<size_t>(share * n));
      for (int64_t row; (row = worker.Claim() * share) < count;) {
        const int64_t rows = std::min(share, count - row);
        ReadFloatRows(tensor, is_vector ? std::span<const int64_t>() : order, first + row, rows, floats.data());
        if (is_vector && !order.empty()) {
          const std::vector<float> stored = floats;
          for (size_t i = 0; i < order.size(); ++i) floats[i] = stored[static_cast<size_t>(order[i])];
        }
        EncodeFor(tensor.dtype)(floats.data(), piece.data() + static_cast<size_t>(row) * row_bytes, rows * n);
      }
    });
    const size_t num_bytes = static_cast<size_t>(count) * row_bytes;
    ADIT_RETURN_IF_ERROR(writer.Append({piece.data(), num_bytes}));
    ADIT_RETURN_IF_ERROR(Told(num_bytes));
  }
  return Status();
}

// Whole: its columns become rows.
Status HfFolderExport::WriteTransposed(const HfTensor& tensor, formats::ModelFolderWriter& writer) {
  const int64_t rows = tensor.tensor->shape[0];
  const int64_t cols = tensor.tensor->shape[1];
  std::vector<float> floats(static_cast<size_t>(rows * cols));
  ReadFloatRows(tensor, {}, 0, rows, floats.data());
  std::vector<float> column(static_cast<size_t>(rows));
  std::vector<std::byte> bytes(RowBytes(tensor.dtype, rows));
  for (int64_t col = 0; col < cols; ++col) {
    for (int64_t row = 0; row < rows; ++row) {
      column[static_cast<size_t>(row)] = floats[static_cast<size_t>(row * cols + col)];
    }
    EncodeFor(tensor.dtype)(column.data(), bytes.data(), rows);
    ADIT_RETURN_IF_ERROR(writer.Append(bytes));
  }
  return Told(bytes.size() * static_cast<size_t>(cols));
}

Status HfFolderExport::WritePacked(const HfTensor& tensor, formats::ModelFolderWriter& writer) {
  const TensorInfo& info = *tensor.tensor;
  // FP8 is made out of floats, where it has not been made already.
  const bool as_floats =
      options_.packing->quantization.method == models::HfQuantization::Method::kFp8 && info.dtype != DType::kFp8;
  const int64_t n = info.row_elements();
  const size_t row_bytes = as_floats ? static_cast<size_t>(n) * sizeof(float) : info.row_bytes();
  const std::vector<int64_t> order = models::HfRowOrder(tensor.rule, info.num_rows());
  std::vector<std::byte> rows(static_cast<size_t>(info.num_rows()) * row_bytes);
  team_.Run([&](Worker& worker) {
    std::vector<float> floats(static_cast<size_t>(n));
    for (int64_t row; (row = worker.Claim()) < info.num_rows();) {
      std::byte* out = rows.data() + static_cast<size_t>(row) * row_bytes;
      if (as_floats) {
        ReadFloatRows(tensor, order, row, 1, floats.data());
        std::memcpy(out, floats.data(), row_bytes);
      } else {
        model_.ReadRows(info, order.empty() ? row : order[static_cast<size_t>(row)], 1, out);
      }
    }
  });
  models::HfMatrix matrix = tensor.matrix();
  if (info.dtype == DType::kFp8) matrix.fp8_rows = DType::kFp8;
  if (options_.packing->static_inputs) {
    ADIT_ASSIGN_OR_RETURN(matrix.largest_input, hooks_.largest_input(info));
  }
  ADIT_ASSIGN_OR_RETURN(const std::vector<std::vector<std::byte>> parts,
                        models::PackHfMatrix(*options_.packing, matrix, rows));
  ADIT_CHECK(parts.size() == tensor.plans.size());
  for (const std::vector<std::byte>& part : parts) {
    ADIT_RETURN_IF_ERROR(writer.Append(part));
    ADIT_RETURN_IF_ERROR(Told(part.size()));
  }
  return Status();
}

Result<size_t> HfFolderExport::Write(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(files_, HfFilesOf(model_));
  ADIT_RETURN_IF_ERROR(PlanTensors());
  std::vector<SafetensorsPlan> plans;
  for (const HfTensor& tensor : tensors_) plans.insert(plans.end(), tensor.plans.begin(), tensor.plans.end());
  ADIT_ASSIGN_OR_RETURN(formats::ModelFolderWriter writer, formats::ModelFolderWriter::Create(path, std::move(plans)));
  for (const auto& [name, contents] : files_.others) ADIT_RETURN_IF_ERROR(writer.WriteFile(name, contents));
  ADIT_RETURN_IF_ERROR(writer.WriteFile("config.json", formats::JsonText(Config(), /*indented=*/true)));
  for (const HfTensor& tensor : tensors_) ADIT_RETURN_IF_ERROR(WriteTensor(tensor, writer));
  ADIT_RETURN_IF_ERROR(writer.Finish());
  return total_bytes_;
}

}  // namespace

Result<size_t> WriteHfFolder(const formats::GgufFile& model, const std::string& path, const HfExportOptions& options,
                             WorkerTeam& team, const ExportHooks& hooks) {
  return HfFolderExport(model, options, team, hooks).Write(path);
}

}  // namespace adit::engine
