#include "engine/gguf_export.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/error.h"
#include "engine/model_tokenizer.h"
#include "formats/gguf_writer.h"
#include "formats/retyped_model.h"
#include "tensor/encode.h"

namespace adit::engine {
namespace {

// Bytes of rows that are read at once; a row that is longer is read whole.
constexpr size_t kPieceBytes = size_t{4} << 20;

// The float type that most weights have.
DType UsualType(const formats::GgufFile& model) {
  std::map<DType, int64_t> elements;
  for (const formats::TensorInfo& tensor : model.tensors()) {
    if (tensor.rank == 2 && Traits(tensor.dtype).block_elements == 1) elements[tensor.dtype] += tensor.num_elements();
  }
  const auto most = std::max_element(elements.begin(), elements.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == elements.end() ? DType::kF32 : most->first;
}

std::string WritableTypes() {
  std::string names;
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (EncodeFor(dtype) != nullptr) names += (names.empty() ? "" : ", ") + std::string(Traits(dtype).name);
  }
  return names;
}

Result<formats::WeightTypes> TypesOf(const formats::GgufFile& model, const std::optional<std::string>& type) {
  formats::WeightTypes types{.matrices = UsualType(model)};
  if (type) {
    const std::optional<DType> dtype = ParseDType(*type);
    if (!dtype || EncodeFor(*dtype) == nullptr) {
      return InvalidArgument("no type '{}' to write; known are {}", *type, WritableTypes());
    }
    types = formats::TypesForQuantization(*dtype);
  }
  types.whole_file = true;
  return types;
}

// How llama.cpp numbers what most of a file's weights are; none for what it has no number for.
std::optional<uint64_t> FileType(DType dtype) {
  constexpr std::pair<DType, uint64_t> kNumbers[] = {
      {DType::kF32, 0},    {DType::kF16, 1},    {DType::kQ4_0, 2},    {DType::kQ4_1, 3},    {DType::kQ8_0, 7},
      {DType::kQ5_0, 8},   {DType::kQ5_1, 9},   {DType::kQ2_K, 10},   {DType::kQ3_K, 11},   {DType::kQ4_K, 14},
      {DType::kQ5_K, 16},  {DType::kQ6_K, 18},  {DType::kIQ4_NL, 25}, {DType::kIQ4_XS, 30}, {DType::kBF16, 32},
      {DType::kTQ1_0, 36}, {DType::kTQ2_0, 37}, {DType::kMXFP4, 38}};
  for (const auto& [type, number] : kNumbers) {
    if (type == dtype) return number;
  }
  return std::nullopt;
}

std::map<std::string, formats::GgufValue, std::less<>> ValuesOf(const formats::GgufFile& model,
                                                                const std::optional<std::string>& type,
                                                                DType matrices) {
  auto values = model.metadata().values();
  // Of how the file was laid out.
  for (const char* key : {"general.alignment", "split.no", "split.count", "split.tensors.count"}) values.erase(key);
  const auto set = [&](const char* key, uint64_t number) {
    values[key] = {.type = formats::GgufType::kU32, .value = number};
  };
  if (const std::optional<uint64_t> number = FileType(matrices); number && (type || model.version() == 0)) {
    set("general.file_type", *number);
  }
  set("general.quantization_version", 2);
  return values;
}

Status WriteTensor(const formats::GgufFile& model, const formats::TensorInfo& tensor, AlignedBuffer& room,
                   formats::GgufWriter& writer) {
  const size_t row_bytes = tensor.row_bytes();
  const auto step = static_cast<int64_t>(std::max<size_t>(1, room.size_bytes() / row_bytes));
  for (int64_t row = 0; row < tensor.num_rows(); row += step) {
    const int64_t count = std::min(step, tensor.num_rows() - row);
    const size_t num_bytes = static_cast<size_t>(count) * row_bytes;
    if (tensor.is_computed()) {
      model.ReadRows(tensor, row, count, room.data());
      ADIT_RETURN_IF_ERROR(writer.Append({room.data(), num_bytes}));
    } else {
      const auto bytes = tensor.data.subspan(static_cast<size_t>(row) * row_bytes, num_bytes);
      ADIT_RETURN_IF_ERROR(writer.Append(bytes));
      model.Release(bytes);
    }
  }
  return Status();
}

}  // namespace

Status ExportGguf(std::unique_ptr<formats::GgufFile> model, const std::string& path,
                  const std::optional<std::string>& type, const std::function<void(double)>& progress) {
  // A model without a tokenizer would run nowhere.
  ADIT_RETURN_IF_ERROR(CheckTokenizerKeys(*model));
  ADIT_ASSIGN_OR_RETURN(const formats::WeightTypes types, TypesOf(*model, type));
  const auto values = ValuesOf(*model, type, types.matrices);
  ADIT_ASSIGN_OR_RETURN(model, formats::Retyped(std::move(model), types));
  std::vector<formats::GgufTensorPlan> plans;
  size_t total_bytes = 0;
  size_t largest_row = 0;
  for (const formats::TensorInfo& tensor : model->tensors()) {
    plans.push_back(
        {.name = std::string(tensor.name), .dtype = tensor.dtype, .rank = tensor.rank, .shape = tensor.shape});
    total_bytes += tensor.size_bytes();
    largest_row = std::max(largest_row, tensor.row_bytes());
  }
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer room, AlignedBuffer::Allocate(std::max(kPieceBytes, largest_row), "rows"));
  ADIT_ASSIGN_OR_RETURN(formats::GgufWriter writer, formats::GgufWriter::Create(path, values, std::move(plans)));
  size_t written_bytes = 0;
  for (const formats::TensorInfo& tensor : model->tensors()) {
    ADIT_RETURN_IF_ERROR(WriteTensor(*model, tensor, room, writer));
    written_bytes += tensor.size_bytes();
    if (progress) progress(static_cast<double>(written_bytes) / static_cast<double>(total_bytes));
  }
  return writer.Finish();
}

}  // namespace adit::engine
