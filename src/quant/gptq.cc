#include "quant/gptq.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "quant/encode_rows.h"
#include "quant/outer_products.h"
#include "tensor/fp8.h"

namespace adit::quant {
namespace {

// Rows of the factor that are made before the rest of the matrix is brought up to date.
constexpr int64_t kPanel = 128;

// Rows [begin, end) of L in place of those of A, from the last up. False when a pivot is not positive.
bool FactorRows(float* a, int64_t n, int64_t begin, int64_t end) {
  for (int64_t k = end - 1; k >= begin; --k) {
    float* row = a + k * n;
    if (!(row[k] > 0.0f) || !std::isfinite(row[k])) return false;
    const float pivot = std::sqrt(row[k]);
    for (int64_t j = 0; j < k; ++j) row[j] /= pivot;
    row[k] = pivot;
    for (int64_t i = begin; i < k; ++i) {
      float* other = a + i * n;
      const float factor = row[i];
      for (int64_t j = 0; j <= i; ++j) other[j] -= factor * row[j];
    }
  }
  return true;
}

// L of A = L^T L, in place: elements up to the diagonal. FailedPrecondition when A is not positive definite.
Status Factor(std::vector<float>& a, int64_t n, const nn::ExecContext& context) {
  for (int64_t end = n; end > 0; end -= kPanel) {
    const int64_t begin = std::max<int64_t>(0, end - kPanel);
    if (!FactorRows(a.data(), n, begin, end)) return FailedPrecondition("not positive definite");
    if (begin == 0) break;
    const int64_t k = end - begin;
    std::vector<float> columns(static_cast<size_t>(begin * k));
    for (int64_t row = 0; row < k; ++row) {
      const float* from = a.data() + (begin + row) * n;
      for (int64_t i = 0; i < begin; ++i) columns[static_cast<size_t>(i * k + row)] = from[i];
    }
    ADIT_RETURN_IF_ERROR(AddOuterProducts(columns, begin, k, -1.0f, context, a.data(), n));
  }
  return Status();
}

}  // namespace

// Puts the rows and columns of the Hessian into the order of rounding; ones of columns that were always zero are made
// to stand for themselves.
Status GptqFactor::Order(std::vector<float>& hessian, const GptqOptions& options) {
  const auto at = [&](int64_t i, int64_t j) {
    return hessian[static_cast<size_t>(std::max(i, j) * n_ + std::min(i, j))];
  };
  importance_.resize(static_cast<size_t>(n_));
  double sum = 0.0;
  for (int64_t i = 0; i < n_; ++i) {
    const float diagonal = at(i, i);
    if (!std::isfinite(diagonal) || diagonal < 0.0f) {
      return Corrupt("gptq: the activations of column {} are not finite", i);
    }
    importance_[static_cast<size_t>(i)] = diagonal;
    sum += static_cast<double>(diagonal);
  }
  const float damping = std::max(options.damping * static_cast<float>(sum / static_cast<double>(n_)), 1e-30f);
  order_.resize(static_cast<size_t>(n_));
  std::iota(order_.begin(), order_.end(), int64_t{0});
  if (options.act_order) {
    std::ranges::stable_sort(order_, [&](int64_t a, int64_t b) {
      return importance_[static_cast<size_t>(a)] > importance_[static_cast<size_t>(b)];
    });
  }
  std::vector<float> ordered(hessian.size());
  for (int64_t i = 0; i < n_; ++i) {
    float* row = ordered.data() + i * n_;
    for (int64_t j = 0; j <= i; ++j) row[j] = at(order_[static_cast<size_t>(i)], order_[static_cast<size_t>(j)]);
    row[i] += damping;
  }
  hessian = std::move(ordered);
  return Status();
}

Status GptqFactor::Pack(const std::vector<float>& factor, const nn::ExecContext& context) {
  for (int64_t begin = 0; begin < n_; begin += kTogether) {
    const int64_t count = std::min(kTogether, n_ - begin);
    std::vector<float> rows(static_cast<size_t>(count * begin));
    std::vector<float>& within = within_.emplace_back(static_cast<size_t>(count * count));
    for (int64_t k = 0; k < count; ++k) {
      const float* row = factor.data() + (begin + k) * n_;
      const float pivot = row[begin + k];
      for (int64_t j = 0; j < begin; ++j) rows[static_cast<size_t>(k * begin + j)] = row[j] / pivot;
      for (int64_t j = 0; j < k; ++j) within[static_cast<size_t>(k * count + j)] = row[begin + j] / pivot;
    }
    PackedFloats& before = before_.emplace_back();
    if (begin > 0) {
      ADIT_ASSIGN_OR_RETURN(before, PackedFloats::Make(std::move(rows), count, begin, context));
    }
  }
  return Status();
}

Result<GptqFactor> GptqFactor::Make(std::vector<float> hessian, int64_t n, const GptqOptions& options,
                                    const nn::ExecContext& context) {
  ADIT_CHECK(static_cast<int64_t>(hessian.size()) == n * n);
  GptqOptions tried = options;
  // Few tokens, or columns that repeat each other, leave it next to singular; then more is added.
  for (int attempt = 0; attempt < 4; ++attempt, tried.damping *= 10.0f) {
    GptqFactor factor;
    factor.n_ = n;
    std::vector<float> ordered = hessian;
    ADIT_RETURN_IF_ERROR(factor.Order(ordered, tried));
    const Status factored = Factor(ordered, n, context);
    if (factored.code() == StatusCode::kFailedPrecondition) continue;
    ADIT_RETURN_IF_ERROR(factored);
    ADIT_RETURN_IF_ERROR(factor.Pack(ordered, context));
    return factor;
  }
  return Corrupt("gptq: the activations of calibration give no positive definite Hessian");
}

template <typename Round>
void GptqFactor::RoundColumns(const float* weights, int64_t num_rows, Round round) const {
  // [num_rows, n]: what rounding has left, in the order of rounding.
  std::vector<float> errors(static_cast<size_t>(num_rows * n_));
  std::vector<float> sums(static_cast<size_t>(num_rows * kTogether));
  for (int64_t begin = 0; begin < n_; begin += kTogether) {
    const int64_t count = std::min(kTogether, n_ - begin);
    const auto index = static_cast<size_t>(begin / kTogether);
    std::ranges::fill(sums, 0.0f);
    if (begin > 0) {
      const nn::PackedMatrix& before = before_[index].matrix();
      before.Multiply({.activations = {.f32 = errors.data(), .f32_stride = n_},
                       .num_tokens = num_rows,
                       .out = sums.data(),
                       .out_stride = kTogether},
                      0, before.num_panels());
    }
    for (int64_t row = 0; row < num_rows; ++row) {
      float* row_errors = errors.data() + row * n_ + begin;
      for (int64_t k = 0; k < count; ++k) {
        const int64_t column = order_[static_cast<size_t>(begin + k)];
        const float* factors = within_[index].data() + k * count;
        float sum = sums[static_cast<size_t>(row * kTogether + k)];
        for (int64_t j = 0; j < k; ++j) sum += row_errors[j] * factors[j];
        const float weight = weights[row * n_ + column];
        row_errors[k] = weight - round(row, column, weight + sum);
      }
    }
  }
}

void GptqFactor::ChooseCodes(const float* weights, int64_t num_rows, std::span<const BlockGrid> grids, int64_t block,
                             uint8_t* codes) const {
  const int64_t blocks_per_row = n_ / block;
  RoundColumns(weights, num_rows, [&](int64_t row, int64_t column, float wanted) {
    const BlockGrid& grid = grids[static_cast<size_t>(row * blocks_per_row + column / block)];
    const auto element = static_cast<int>(column % block);
    const int code = grid.Nearest(element, wanted);
    codes[row * n_ + column] = static_cast<uint8_t>(code);
    return grid.Value(element, code);
  });
}

void GptqFactor::EncodeRows(DType dtype, const GroupScales* groups, const float* weights, int64_t num_rows,
                            std::byte* out) const {
  const DTypeTraits& traits = Traits(dtype);
  const auto block_bytes = static_cast<size_t>(traits.block_bytes);
  const int64_t blocks_per_row = n_ / traits.block_elements;
  const size_t row_bytes = RowBytes(dtype, n_);
  std::vector<BlockGrid> grids;
  grids.reserve(static_cast<size_t>(num_rows * blocks_per_row));
  for (int64_t row = 0; row < num_rows; ++row) {
    std::byte* blocks = out + static_cast<size_t>(row) * row_bytes;
    EncodeRowsWith(dtype, groups, weights + row * n_, importance_.data(), blocks, 1, n_);
    for (int64_t b = 0; b < blocks_per_row; ++b) {
      BlockGrid& grid = grids.emplace_back(GridOf(dtype, blocks + static_cast<size_t>(b) * block_bytes));
      if (groups != nullptr) grid.num_codes = groups->num_codes();
    }
  }
  std::vector<uint8_t> codes(static_cast<size_t>(num_rows * n_));
  ChooseCodes(weights, num_rows, grids, traits.block_elements, codes.data());
  for (int64_t b = 0; b < num_rows * blocks_per_row; ++b) {
    SetCodes(dtype, codes.data() + b * traits.block_elements, out + static_cast<size_t>(b) * block_bytes);
  }
}

void GptqFactor::EncodeFp8Rows(const Fp8Scales& scales, const float* weights, int64_t first_row, int64_t num_rows,
                               std::byte* out) const {
  const int64_t block = Traits(DType::kFp8).block_elements;
  const int64_t blocks_per_row = n_ / block;
  auto* blocks = reinterpret_cast<BlockFp8*>(out);
  for (int64_t b = 0; b < num_rows * blocks_per_row; ++b) {
    blocks[b].d = scales.Scale(first_row + b / blocks_per_row, b % blocks_per_row * block);
  }
  RoundColumns(weights, num_rows, [&](int64_t row, int64_t column, float wanted) {
    BlockFp8& to = blocks[row * blocks_per_row + column / block];
    const uint8_t code = to.d > 0.0f ? FloatToE4M3(wanted / to.d) : uint8_t{0};
    to.qs[column % block] = code;
    return to.d * E4M3ToFloat(code);
  });
}

}  // namespace adit::quant
