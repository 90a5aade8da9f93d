#include "models/pack.h"

#include <algorithm>
#include <utility>

namespace adit::models {
namespace {

// A piece is about this much of the file: small enough to share out, large enough that letting its pages go is cheap.
constexpr size_t kPieceBytes = size_t{4} << 20;

int64_t PanelsPerPiece(const PendingMatrix& pending) {
  const size_t panel_bytes = pending.tensor->row_bytes() * static_cast<size_t>(pending.matrix->panel_rows());
  return std::max<int64_t>(1, static_cast<int64_t>(kPieceBytes / panel_bytes));
}

// Packs panels [begin, end) into `panels`, where panel 0 goes. `rows` has room for a piece's computed rows.
void PackPiece(const formats::WeightSource& source, const PendingMatrix& pending, int64_t begin, int64_t end,
               std::byte* panels, std::byte* rows) {
  const nn::PackedMatrix& matrix = *pending.matrix;
  const formats::TensorInfo& tensor = *pending.tensor;
  const int64_t first_row = begin * matrix.panel_rows();
  const int64_t num_rows = std::min(end * matrix.panel_rows(), matrix.num_rows()) - first_row;
  if (tensor.is_computed()) {
    source.ReadRows(tensor, pending.first_row + first_row, num_rows, rows);
    matrix.PackRows(rows, num_rows, panels + static_cast<size_t>(begin) * matrix.panel_bytes());
    return;
  }
  const std::span<const std::byte> bytes =
      tensor.data.subspan(static_cast<size_t>(pending.first_row + first_row) * tensor.row_bytes(),
                          static_cast<size_t>(num_rows) * tensor.row_bytes());
  matrix.PackRows(bytes.data(), num_rows, panels + static_cast<size_t>(begin) * matrix.panel_bytes());
  source.Release(bytes);
}

}  // namespace

Status PackMatrices(const formats::WeightSource& source, const nn::ExecContext& context,
                    std::span<const PendingMatrix> matrices, AlignedBuffer& packed, const LoadProgress& progress) {
  size_t total_bytes = 0;
  size_t piece_bytes = 0;  // of the largest piece of computed rows
  for (const PendingMatrix& pending : matrices) {
    total_bytes += pending.matrix->packed_bytes();
    if (!pending.tensor->is_computed()) continue;
    const auto piece_rows = static_cast<size_t>(PanelsPerPiece(pending) * pending.matrix->panel_rows());
    piece_bytes = std::max(piece_bytes, piece_rows * pending.tensor->row_bytes());
  }
  ADIT_ASSIGN_OR_RETURN(packed, AlignedBuffer::Allocate(total_bytes, "packed weights"));
  std::vector<AlignedBuffer> rows(static_cast<size_t>(context.team.size()));
  if (piece_bytes > 0) {
    for (AlignedBuffer& buffer : rows) {
      ADIT_ASSIGN_OR_RETURN(buffer, AlignedBuffer::Allocate(piece_bytes, "rows of weights"));
    }
  }
  size_t offset = 0;
  for (const PendingMatrix& pending : matrices) {
    nn::PackedMatrix& matrix = *pending.matrix;
    std::byte* panels = packed.data() + offset;
    const int64_t panels_per_piece = PanelsPerPiece(pending);
    const int64_t num_pieces = (matrix.num_panels() + panels_per_piece - 1) / panels_per_piece;
    context.team.Run([&](Worker& worker) {
      for (int64_t piece; (piece = worker.Claim()) < num_pieces;) {
        const int64_t begin = piece * panels_per_piece;
        const int64_t end = std::min(begin + panels_per_piece, matrix.num_panels());
        PackPiece(source, pending, begin, end, panels, rows[static_cast<size_t>(worker.index())].data());
      }
    });
    matrix.set_data(panels);
    offset += matrix.packed_bytes();
    if (progress) ADIT_RETURN_IF_ERROR(progress(static_cast<double>(offset) / static_cast<double>(total_bytes)));
  }
  return Status();
}

Result<const std::byte*> RowsInPlace::Of(const formats::TensorInfo& tensor) {
  if (!tensor.is_computed()) return tensor.data.data();
  const auto [entry, is_new] = computed_.try_emplace(&tensor, nullptr);
  if (!is_new) return entry->second;
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer buffer, AlignedBuffer::Allocate(tensor.size_bytes(), "weights"));
  source_.ReadRows(tensor, 0, tensor.num_rows(), buffer.data());
  entry->second = buffer.data();
  buffers_.push_back(std::move(buffer));
  return entry->second;
}

}  // namespace adit::models
