#include "quant/importance.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "formats/gguf.h"
#include "formats/gguf_writer.h"

namespace adit::quant {
namespace {

constexpr std::string_view kSums = ".in_sum2";
constexpr std::string_view kCounts = ".counts";
constexpr const char* kDatasets = "imatrix.datasets";
constexpr const char* kChunkCount = "imatrix.chunk_count";
constexpr const char* kChunkSize = "imatrix.chunk_size";

// The part of a joint matrix that has the same input under a name of its own.
std::string_view FirstPart(std::string_view name) {
  return name.ends_with("attn_qkv.weight") ? std::string_view("attn_q.weight") : std::string_view();
}

Result<Importance::Matrix> ReadMatrix(const formats::GgufFile& file, const formats::TensorInfo& sums) {
  const std::string name(sums.name.substr(0, sums.name.size() - kSums.size()));
  const formats::TensorInfo* counts = file.Find(name + std::string(kCounts));
  if (counts == nullptr) return Corrupt("{}: tensor '{}{}' is missing", file.path(), name, kCounts);
  if (sums.dtype != DType::kF32 || counts->dtype != DType::kF32) {
    return Corrupt("{}: tensors of '{}' are not of type F32", file.path(), name);
  }
  if (sums.num_rows() != 1 || counts->num_elements() != 1) {
    return Unsupported("{}: '{}' has {} matrices; of experts this build knows nothing", file.path(), name,
                       sums.num_rows());
  }
  Importance::Matrix matrix;
  matrix.sums.resize(static_cast<size_t>(sums.num_elements()));
  formats::ReadFloats(file, sums, matrix.sums.data());
  formats::ReadFloats(file, *counts, &matrix.count);
  if (!(matrix.count > 0.0f)) return Corrupt("{}: '{}' counts {} tokens", file.path(), name, matrix.count);
  for (const float sum : matrix.sums) {
    if (sum >= 0.0f && std::isfinite(sum)) continue;
    return Corrupt("{}: '{}' has the sum of squares {}", file.path(), name, sum);
  }
  return matrix;
}

}  // namespace

Result<std::vector<float>> Importance::For(std::string_view name, int64_t num_columns, const std::string& path) const {
  auto found = matrices.find(name);
  if (const std::string_view part = FirstPart(name); found == matrices.end() && !part.empty()) {
    found = matrices.find(std::string(name.substr(0, name.find("attn_qkv"))).append(part));
  }
  std::vector<float> means;
  if (found == matrices.end()) return means;
  if (static_cast<int64_t>(found->second.sums.size()) != num_columns) {
    return Corrupt("{}: '{}' has {} columns, the model's tensor has {}: it was made for another model", path, name,
                   found->second.sums.size(), num_columns);
  }
  means = found->second.sums;
  bool any = false;
  for (float& mean : means) {
    mean /= found->second.count;
    any |= mean > 0.0f;
  }
  // Inputs that were always zero tell nothing.
  if (!any) means.clear();
  return means;
}

Result<Importance> ReadImportance(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, formats::GgufFile::Open(path));
  const formats::GgufMetadata& metadata = file->metadata();
  ADIT_ASSIGN_OR_RETURN(const std::string_view type, metadata.StringOr("general.type", "model"));
  if (type != "imatrix") {
    return Corrupt("{}: general.type is '{}'; an importance matrix has 'imatrix' (adit imatrix makes one)", path, type);
  }
  Importance importance;
  if (metadata.Has(kDatasets)) {
    ADIT_ASSIGN_OR_RETURN(const auto names, metadata.GetStrings(kDatasets));
    importance.datasets.assign(names.begin(), names.end());
  }
  ADIT_ASSIGN_OR_RETURN(const int64_t num_chunks, metadata.IntOr(kChunkCount, 0));
  ADIT_ASSIGN_OR_RETURN(const int64_t chunk_size, metadata.IntOr(kChunkSize, 0));
  importance.num_chunks = static_cast<uint64_t>(num_chunks);
  importance.chunk_size = static_cast<uint64_t>(chunk_size);
  for (const formats::TensorInfo& tensor : file->tensors()) {
    if (!tensor.name.ends_with(kSums)) continue;
    ADIT_ASSIGN_OR_RETURN(Importance::Matrix matrix, ReadMatrix(*file, tensor));
    importance.matrices.emplace(tensor.name.substr(0, tensor.name.size() - kSums.size()), std::move(matrix));
  }
  if (importance.matrices.empty()) return Corrupt("{}: holds no importance of any matrix", path);
  return importance;
}

Status WriteImportance(const Importance& importance, const std::string& path) {
  std::map<std::string, formats::GgufValue, std::less<>> values;
  values["general.type"] = {.type = formats::GgufType::kString, .value = std::string("imatrix")};
  values[kDatasets] = {
      .type = formats::GgufType::kArray, .element_type = formats::GgufType::kString, .value = importance.datasets};
  values[kChunkCount] = {.type = formats::GgufType::kU32, .value = importance.num_chunks};
  values[kChunkSize] = {.type = formats::GgufType::kU32, .value = importance.chunk_size};
  std::vector<formats::GgufTensorPlan> plans;
  for (const auto& [name, matrix] : importance.matrices) {
    plans.push_back({.name = name + std::string(kSums),
                     .dtype = DType::kF32,
                     .rank = 2,
                     .shape = {1, static_cast<int64_t>(matrix.sums.size()), 1, 1}});
    plans.push_back({.name = name + std::string(kCounts), .dtype = DType::kF32, .rank = 2, .shape = {1, 1, 1, 1}});
  }
  ADIT_ASSIGN_OR_RETURN(formats::GgufWriter writer, formats::GgufWriter::Create(path, values, std::move(plans)));
  for (const auto& [name, matrix] : importance.matrices) {
    ADIT_RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(matrix.sums))));
    ADIT_RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(&matrix.count, 1))));
  }
  return writer.Finish();
}

}  // namespace adit::quant
