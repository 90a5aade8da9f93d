#include "models/tensor_taker.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/error.h"

namespace adit::models {

Result<const formats::TensorInfo*> TensorTaker::Take(const std::string& name, int64_t rows, int64_t cols) {
  const formats::TensorInfo* tensor = source_.Find(name);
  if (tensor == nullptr) return Corrupt("{}: tensor '{}' is missing", source_.path(), name);
  const bool is_vector = tensor->rank == 1;
  const int64_t got_rows = is_vector ? 1 : tensor->shape[0];
  const int64_t got_cols = is_vector ? tensor->shape[0] : tensor->shape[1];
  if (tensor->rank > 2 || got_rows != rows || got_cols != cols) {
    return Corrupt("{}: tensor '{}' is [{}, {}], expected [{}, {}]", source_.path(), name, got_rows, got_cols, rows,
                   cols);
  }
  taken_.insert(name);
  return tensor;
}

Result<EmbeddingTable> TensorTaker::TakeTable(const std::string& name, int64_t rows, int64_t cols) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name, rows, cols));
  EmbeddingTable table{.source = &source_, .tensor = tensor};
  if (tensor->is_computed()) {
    ADIT_ASSIGN_OR_RETURN(table.rows, in_place_.Of(*tensor));
  }
  return table;
}

Status TensorTaker::TakeVector(const std::string& name, int64_t rows, int64_t cols, std::vector<float>& out) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name, rows, cols));
  out.resize(static_cast<size_t>(rows * cols));
  formats::ReadFloats(source_, *tensor, out.data());
  return Status();
}

Status TensorTaker::TakeRows(const std::string& name, int64_t cols, std::vector<float>& out) {
  const formats::TensorInfo* tensor = source_.Find(name);
  const bool is_matrix = tensor != nullptr && tensor->rank == 2;
  ADIT_ASSIGN_OR_RETURN(tensor, Take(name, is_matrix ? tensor->shape[0] : 1, cols));
  out.resize(static_cast<size_t>(tensor->num_elements()));
  formats::ReadFloats(source_, *tensor, out.data());
  return Status();
}

Status TensorTaker::TakeNorm(const std::string& name, int64_t rows, int64_t cols, nn::Norm& norm) {
  ADIT_RETURN_IF_ERROR(TakeVector(name + ".weight", rows, cols, norm.weight));
  if (norm.kind != nn::NormKind::kLayer || !Has(name + ".bias")) return Status();
  return TakeVector(name + ".bias", rows, cols, norm.bias);
}

Status TensorTaker::TakeBias(const std::string& name, int64_t rows, std::vector<float>& out) {
  if (!Has(name)) return Status();
  return TakeVector(name, 1, rows, out);
}

Status TensorTaker::SetMatrix(nn::Linear& out, const formats::TensorInfo& whole, int64_t first_row, int64_t rows) {
  // In the narrower type where there is one: its input is gathered.
  const std::optional<formats::ReorderedMatrix> reordered = source_.Reordered(whole);
  const formats::TensorInfo& tensor = reordered ? *reordered->tensor : whole;
  if (reordered) out.column_order.assign(reordered->order.begin(), reordered->order.end());
  nn::PackedMatrix& matrix = out.matrix;
  matrix = nn::PackedMatrix(context_.kernels, tensor.dtype, rows, tensor.row_elements());
  products_ += ProductsOf(matrix);
  if (matrix.needs_packing()) {
    pending_.push_back({.matrix = &matrix, .tensor = &tensor, .first_row = first_row});
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const std::byte* data, in_place_.Of(tensor));
  matrix.set_data(data + static_cast<size_t>(first_row) * tensor.row_bytes());
  return Status();
}

Status TensorTaker::TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name + ".weight", rows, cols));
  ADIT_RETURN_IF_ERROR(SetMatrix(out, *tensor, 0, rows));
  return TakeBias(name + ".bias", rows, out.bias);
}

bool TensorTaker::IsJoint(const std::string& joint, const std::vector<Part>& parts) const {
  const formats::TensorInfo* tensor = source_.Find(joint + ".weight");
  if (tensor == nullptr) return false;
  // By itself, a tensor of a part's name is joint unless it is of that part's size.
  return std::ranges::none_of(parts, [&](const Part& part) {
    return part.name == joint ? tensor->shape[0] == part.rows : Has(part.name + ".weight");
  });
}

// A row is a whole number of blocks in every type, so the parts of a joint matrix lie in it as they are.
Status TensorTaker::TakeParts(const std::string& joint, int64_t cols, const std::vector<Part>& parts) {
  if (!IsJoint(joint, parts)) {
    for (const Part& part : parts) ADIT_RETURN_IF_ERROR(TakeLinear(part.name, part.rows, cols, *part.out));
    return Status();
  }
  int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(joint + ".weight", rows, cols));
  std::vector<float> bias;
  ADIT_RETURN_IF_ERROR(TakeBias(joint + ".bias", rows, bias));
  int64_t first = 0;
  for (const Part& part : parts) {
    ADIT_RETURN_IF_ERROR(SetMatrix(*part.out, *tensor, first, part.rows));
    if (!bias.empty()) part.out->bias.assign(bias.begin() + first, bias.begin() + first + part.rows);
    first += part.rows;
  }
  return Status();
}

Status TensorTaker::UseTable(const std::string& name, nn::Linear& out) {
  const formats::TensorInfo* tensor = source_.Find(name);
  ADIT_CHECK(tensor != nullptr && taken_.contains(name));
  return SetMatrix(out, *tensor, 0, tensor->num_rows());
}

Status TensorTaker::CheckAllTaken(const std::string& architecture) const {
  for (const formats::TensorInfo& tensor : source_.tensors()) {
    if (taken_.contains(std::string(tensor.name))) continue;
    return Unsupported("{}: tensor '{}' has no place in a {} model as this build knows it", source_.path(), tensor.name,
                       architecture);
  }
  return Status();
}

Status TensorTaker::Pack(ModelWeights& weights, const LoadProgress& progress) {
  weights.in_place = in_place_.TakeBuffers();
  return PackMatrices(source_, context_, pending_, weights.packed, progress);
}

}  // namespace adit::models
