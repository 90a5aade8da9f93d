#include "engine/gguf_export.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/cpus.h"
#include "base/error.h"
#include "engine/model_tokenizer.h"
#include "formats/gguf_parts_writer.h"
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
                                                                const GgufNotes& notes) {
  auto values = model.metadata().values();
  // Of how the file was laid out.
  for (const char* key : {"general.alignment", "split.no", "split.count", "split.tensors.count"}) values.erase(key);
  const auto set = [&](const char* key, uint64_t number) {
    values[key] = {.type = formats::GgufType::kU32, .value = number};
  };
  if (notes.file_type) set("general.file_type", *notes.file_type);
  set("general.quantization_version", 2);
  for (const auto& [key, value] : notes.values) values[key] = value;
  return values;
}

// Rows [first_row, first_row + num_rows) of a tensor that is computed, by all workers.
void ComputeRows(const formats::GgufFile& model, const formats::TensorInfo& tensor, int64_t first_row, int64_t num_rows,
                 WorkerTeam& team, std::byte* out) {
  const int64_t step = std::max<int64_t>(1, num_rows / (team.size() * 8));
  team.Run([&](Worker& worker) {
    for (int64_t row; (row = worker.Claim() * step) < num_rows;) {
      const int64_t count = std::min(step, num_rows - row);
      model.ReadRows(tensor, first_row + row, count, out + static_cast<size_t>(row) * tensor.row_bytes());
    }
  });
}

// Writes the tensors of one model after another, and tells how much is done.
class TensorWriter {
 public:
  TensorWriter(const formats::GgufFile& model, WorkerTeam& team, AlignedBuffer room, formats::GgufPartsWriter writer,
               const ExportHooks& hooks)
      : model_(model), team_(team), room_(std::move(room)), writer_(std::move(writer)), hooks_(hooks) {
    for (const formats::TensorInfo& tensor : model.tensors()) total_bytes_ += tensor.size_bytes();
  }

  Status WriteAll() {
    for (const formats::TensorInfo& tensor : model_.tensors()) ADIT_RETURN_IF_ERROR(Write(tensor));
    return writer_.Finish();
  }

 private:
  Status Write(const formats::TensorInfo& tensor) {
    if (hooks_.prepare) ADIT_RETURN_IF_ERROR(hooks_.prepare(tensor));
    const size_t row_bytes = tensor.row_bytes();
    const auto step = static_cast<int64_t>(std::max<size_t>(1, room_.size_bytes() / row_bytes));
    for (int64_t row = 0; row < tensor.num_rows(); row += step) {
      const int64_t count = std::min(step, tensor.num_rows() - row);
      const size_t num_bytes = static_cast<size_t>(count) * row_bytes;
      if (tensor.is_computed()) {
        ComputeRows(model_, tensor, row, count, team_, room_.data());
        ADIT_RETURN_IF_ERROR(writer_.Append({room_.data(), num_bytes}));
      } else {
        const auto bytes = tensor.data.subspan(static_cast<size_t>(row) * row_bytes, num_bytes);
        ADIT_RETURN_IF_ERROR(writer_.Append(bytes));
        model_.Release(bytes);
      }
      written_bytes_ += num_bytes;
      if (!hooks_.progress) continue;
      ADIT_RETURN_IF_ERROR(hooks_.progress(static_cast<double>(written_bytes_) / static_cast<double>(total_bytes_)));
    }
    return Status();
  }

  const formats::GgufFile& model_;
  WorkerTeam& team_;
  AlignedBuffer room_;  // for rows
  formats::GgufPartsWriter writer_;
  const ExportHooks& hooks_;
  size_t total_bytes_ = 0;
  size_t written_bytes_ = 0;
};

}  // namespace

Status WriteGguf(const formats::GgufFile& model, const std::string& path, const GgufNotes& notes, WorkerTeam& team,
                 const ExportHooks& hooks) {
  // A model without a tokenizer would run nowhere.
  ADIT_RETURN_IF_ERROR(CheckTokenizerKeys(model));
  std::vector<formats::GgufTensorPlan> plans;
  size_t largest_row = 0;
  for (const formats::TensorInfo& tensor : model.tensors()) {
    plans.push_back(
        {.name = std::string(tensor.name), .dtype = tensor.dtype, .rank = tensor.rank, .shape = tensor.shape});
    largest_row = std::max(largest_row, tensor.row_bytes());
  }
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer room, AlignedBuffer::Allocate(std::max(kPieceBytes, largest_row), "rows"));
  ADIT_ASSIGN_OR_RETURN(formats::GgufPartsWriter writer,
                        formats::GgufPartsWriter::Create(path, ValuesOf(model, notes), plans, notes.max_part_bytes));
  return TensorWriter(model, team, std::move(room), std::move(writer), hooks).WriteAll();
}

Status ExportGguf(std::unique_ptr<formats::GgufFile> model, const std::string& path,
                  const std::optional<std::string>& type, size_t max_part_bytes, const ExportHooks& hooks) {
  ADIT_ASSIGN_OR_RETURN(const formats::WeightTypes types, TypesOf(*model, type));
  GgufNotes notes{.file_type = std::nullopt, .values = {}, .max_part_bytes = max_part_bytes};
  if (type || model->version() == 0) notes.file_type = FileType(types.matrices);
  ADIT_ASSIGN_OR_RETURN(model, formats::Retyped(std::move(model), types));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team, WorkerTeam::Create(NumAvailableCpus()));
  return WriteGguf(*model, path, notes, *team, hooks);
}

}  // namespace adit::engine
