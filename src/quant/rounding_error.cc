#include "quant/rounding_error.h"

#include <algorithm>

#include "tensor/encode_search.h"

namespace adit::quant {
namespace {

using formats::TensorInfo;

// Rows of a matrix that stand for all when errors of types are compared.
constexpr int64_t kComparedRows = 128;

void ReadWide(const formats::WeightSource& model, const TensorInfo& tensor, int64_t first, int64_t count, float* out) {
  std::vector<uint64_t> room(static_cast<size_t>(count) * tensor.row_bytes() / sizeof(uint64_t) + 1);
  auto* bytes = reinterpret_cast<std::byte*>(room.data());
  model.ReadRows(tensor, first, count, bytes);
  Traits(tensor.dtype).decode(bytes, out, count * tensor.row_elements());
}

}  // namespace

void ReadRounded(const formats::WeightSource& model, const TensorInfo& tensor, const formats::TensorRetyping& retyping,
                 int64_t first, int64_t count, float* out) {
  ReadWide(model, tensor, first, count, out);
  if (retyping.dtype == tensor.dtype) return;
  const int64_t n = tensor.row_elements();
  std::vector<uint64_t> room(static_cast<size_t>(count) * RowBytes(retyping.dtype, n) / sizeof(uint64_t) + 1);
  auto* blocks = reinterpret_cast<std::byte*>(room.data());
  const float* importance = retyping.importance.empty() ? nullptr : retyping.importance.data();
  EncodeRows(retyping.dtype, out, importance, blocks, count, n);
  Traits(retyping.dtype).decode(blocks, out, count * n);
}

std::vector<std::byte> RoundedFloats(const formats::WeightSource& model, const TensorInfo& tensor,
                                     const formats::TensorRetyping& retyping, WorkerTeam& team) {
  constexpr int64_t kStep = 16;
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.num_elements()) * sizeof(float));
  auto* floats = reinterpret_cast<float*>(bytes.data());
  team.Run([&](Worker& worker) {
    for (int64_t row; (row = worker.Claim() * kStep) < tensor.num_rows();) {
      const int64_t count = std::min(kStep, tensor.num_rows() - row);
      ReadRounded(model, tensor, retyping, row, count, floats + row * tensor.row_elements());
    }
  });
  return bytes;
}

double RoundingError(const formats::WeightSource& model, const TensorInfo& tensor,
                     const formats::TensorRetyping& retyping, std::span<const float> mean_squares, WorkerTeam& team) {
  if (retyping.dtype == tensor.dtype) return 0.0;
  const int64_t n = tensor.row_elements();
  const int64_t num_rows = std::min(kComparedRows, tensor.num_rows());
  // Sums of each row, added in order afterwards: the same number for any number of threads.
  std::vector<double> errors(static_cast<size_t>(num_rows));
  std::vector<double> strengths(static_cast<size_t>(num_rows));
  team.Run([&](Worker& worker) {
    std::vector<float> wide(static_cast<size_t>(n));
    std::vector<float> rounded(static_cast<size_t>(n));
    for (int64_t i; (i = worker.Claim()) < num_rows;) {
      const int64_t row = i * tensor.num_rows() / num_rows;
      ReadWide(model, tensor, row, 1, wide.data());
      ReadRounded(model, tensor, retyping, row, 1, rounded.data());
      double& error = errors[static_cast<size_t>(i)];
      double& strength = strengths[static_cast<size_t>(i)];
      for (size_t j = 0; j < wide.size(); ++j) {
        const double counts = mean_squares.empty() ? 1.0 : static_cast<double>(mean_squares[j]);
        const double off = static_cast<double>(wide[j]) - static_cast<double>(rounded[j]);
        error += counts * off * off;
        strength += counts * static_cast<double>(wide[j]) * static_cast<double>(wide[j]);
      }
    }
  });
  double error = 0.0;
  double strength = 0.0;
  for (size_t i = 0; i < errors.size(); ++i) {
    error += errors[i];
    strength += strengths[i];
  }
  return strength > 0.0 ? error / strength : 0.0;
}

}  // namespace adit::quant
