#include "models/tensor_taker.h"

#include <algorithm>

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
  return EmbeddingTable{
      .dtype = tensor->dtype, .rows = tensor->data.data(), .row_bytes = RowBytes(tensor->dtype, cols)};
}

Status TensorTaker::TakeVector(const std::string& name, int64_t rows, int64_t cols, std::vector<float>& out) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name, rows, cols));
  out.resize(static_cast<size_t>(rows * cols));
  Traits(tensor->dtype).decode(tensor->data.data(), out.data(), rows * cols);
  return Status();
}

Status TensorTaker::TakeFirstRow(const std::string& name, int64_t cols, std::vector<float>& out) {
  const formats::TensorInfo* tensor = source_.Find(name);
  const bool is_matrix = tensor != nullptr && tensor->rank == 2;
  ADIT_ASSIGN_OR_RETURN(tensor, Take(name, is_matrix ? tensor->shape[0] : 1, cols));
  out.resize(static_cast<size_t>(cols));
  Traits(tensor->dtype).decode(tensor->data.data(), out.data(), cols);
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

void TensorTaker::SetMatrix(nn::PackedMatrix& matrix, DType dtype, const std::byte* data, int64_t rows, int64_t cols) {
  matrix = nn::PackedMatrix(context_.kernels, dtype, rows, cols);
  products_ += ProductsOf(matrix);
  if (matrix.needs_packing()) {
    pending_.push_back({&matrix, data});
  } else {
    matrix.set_data(data);
  }
}

Status TensorTaker::TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name + ".weight", rows, cols));
  SetMatrix(out.matrix, tensor->dtype, tensor->data.data(), rows, cols);
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
  const size_t row_bytes = RowBytes(tensor->dtype, cols);
  int64_t first = 0;
  for (const Part& part : parts) {
    const std::byte* data = tensor->data.data() + static_cast<size_t>(first) * row_bytes;
    SetMatrix(part.out->matrix, tensor->dtype, data, part.rows, cols);
    if (!bias.empty()) part.out->bias.assign(bias.begin() + first, bias.begin() + first + part.rows);
    first += part.rows;
  }
  return Status();
}

void TensorTaker::UseTable(const EmbeddingTable& table, int64_t rows, int64_t cols, nn::Linear& out) {
  SetMatrix(out.matrix, table.dtype, table.rows, rows, cols);
}

Status TensorTaker::CheckAllTaken(const std::string& architecture) const {
  for (const formats::TensorInfo& tensor : source_.tensors()) {
    if (taken_.contains(std::string(tensor.name))) continue;
    return Unsupported("{}: tensor '{}' has no place in a {} model as this build knows it", source_.path(), tensor.name,
                       architecture);
  }
  return Status();
}

Status TensorTaker::Pack(AlignedBuffer& packed, const LoadProgress& progress) const {
  size_t total_bytes = 0;
  for (const PendingMatrix& pending : pending_) total_bytes += pending.matrix->packed_bytes();
  ADIT_ASSIGN_OR_RETURN(packed, AlignedBuffer::Allocate(total_bytes, "packed weights"));
  // A piece is about this much of the file: small enough to share out, large enough that letting its pages go is cheap.
  constexpr size_t kPieceBytes = size_t{4} << 20;
  size_t offset = 0;
  for (const PendingMatrix& pending : pending_) {
    nn::PackedMatrix& matrix = *pending.matrix;
    std::byte* panels = packed.data() + offset;
    const std::byte* rows = pending.rows;
    const size_t row_bytes = RowBytes(matrix.dtype(), matrix.num_cols());
    const int64_t panels_per_piece = std::max<int64_t>(
        1, static_cast<int64_t>(kPieceBytes / (row_bytes * static_cast<size_t>(matrix.panel_rows()))));
    const int64_t num_pieces = (matrix.num_panels() + panels_per_piece - 1) / panels_per_piece;
    context_.team.Run([&](Worker& worker) {
      for (int64_t piece; (piece = worker.Claim()) < num_pieces;) {
        const int64_t begin = piece * panels_per_piece;
        const int64_t end = std::min(begin + panels_per_piece, matrix.num_panels());
        matrix.Pack(rows, panels, begin, end);
        const size_t first_row = static_cast<size_t>(begin * matrix.panel_rows());
        const size_t last_row = static_cast<size_t>(std::min(end * matrix.panel_rows(), matrix.num_rows()));
        source_.Release({rows + first_row * row_bytes, (last_row - first_row) * row_bytes});
      }
    });
    matrix.set_data(panels);
    offset += matrix.packed_bytes();
    if (progress) progress(static_cast<double>(offset) / static_cast<double>(total_bytes));
  }
  return Status();
}

}  // namespace adit::models
