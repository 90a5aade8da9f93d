#include "quant/scale_fitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace adit::quant {
namespace {

// What is added to the equations' diagonals, as a share of them: groups that inputs hardly tell apart change little.
constexpr double kDamping = 1e-3;

// Solves A x = b by Cholesky's factors, in place; A [n, n], of which elements up to the diagonal are read, n being the
// length of b. False when a pivot is not positive.
bool Solve(std::span<double> a, std::span<double> b) {
  const size_t n = b.size();
  for (size_t k = 0; k < n; ++k) {
    double* row = a.data() + k * n;
    for (size_t j = 0; j <= k; ++j) {
      const double* other = a.data() + j * n;
      double sum = row[j];
      for (size_t i = 0; i < j; ++i) sum -= row[i] * other[i];
      if (j == k && !(sum > 0.0)) return false;
      row[j] = j == k ? std::sqrt(sum) : sum / other[j];
    }
    for (size_t i = 0; i < k; ++i) b[k] -= row[i] * b[i];
    b[k] /= row[k];
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t i = k + 1; i < n; ++i) b[k] -= a[i * n + k] * b[i];
    b[k] /= a[k * n + k];
  }
  return true;
}

// In sums side by side, which compilers may keep in vectors. Requires a multiple of 32 elements.
double Dot(const float* a, const float* b, int64_t n) {
  constexpr size_t kLanes = 32;
  std::array<float, kLanes> sums{};
  for (int64_t i = 0; i < n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) sums[k] += a[i + static_cast<int64_t>(k)] * b[i + static_cast<int64_t>(k)];
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

Result<ScaleFitter> ScaleFitter::Make(const std::vector<float>& hessian, int64_t n, const GroupScales& groups,
                                      const nn::ExecContext& context) {
  ScaleFitter fitter;
  fitter.n_ = n;
  fitter.groups_ = groups;
  fitter.group_size_ = groups.group_size > 0 ? groups.group_size : n;
  for (int64_t begin = 0; begin < n; begin += fitter.group_size_) {
    std::vector<float> columns;
    columns.reserve(static_cast<size_t>(n * fitter.group_size_));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = begin; j < begin + fitter.group_size_; ++j) {
        columns.push_back(hessian[static_cast<size_t>(std::max(i, j) * n + std::min(i, j))]);
      }
    }
    ADIT_ASSIGN_OR_RETURN(PackedFloats packed, PackedFloats::Make(std::move(columns), n, fitter.group_size_, context));
    fitter.columns_.push_back(std::move(packed));
  }
  return fitter;
}

ScaleFitter::Systems ScaleFitter::SystemsOf(const std::vector<float>& values, const std::vector<float>& errors,
                                            int64_t num_rows) const {
  Systems systems;
  systems.products.resize(static_cast<size_t>(num_rows * num_groups() * num_groups()));
  systems.errors.resize(static_cast<size_t>(num_rows * num_groups()));
  std::vector<float> products(values.size());  // [num_rows, n], H q_g
  for (int64_t g = 0; g < num_groups(); ++g) {
    const nn::PackedMatrix& matrix = columns_[static_cast<size_t>(g)].matrix();
    matrix.Multiply({.activations = {.f32 = values.data() + g * group_size_, .f32_stride = n_},
                     .num_tokens = num_rows,
                     .out = products.data(),
                     .out_stride = n_},
                    0, matrix.num_panels());
    for (int64_t row = 0; row < num_rows; ++row) {
      const int64_t at = row * num_groups() + g;
      for (int64_t h = 0; h < num_groups(); ++h) {
        const int64_t begin = row * n_ + h * group_size_;
        const float* product = products.data() + begin;
        systems.products[static_cast<size_t>(at * num_groups() + h)] = Dot(product, values.data() + begin, group_size_);
        systems.errors[static_cast<size_t>(at)] += Dot(product, errors.data() + begin, group_size_);
      }
    }
  }
  return systems;
}

void ScaleFitter::Fit(const float* weights, int64_t num_rows, std::byte* blocks) const {
  std::vector<float> values(static_cast<size_t>(num_rows * n_));
  Traits(groups_.dtype()).decode(blocks, values.data(), num_rows * n_);
  std::vector<float> errors(values.size());
  for (size_t i = 0; i < values.size(); ++i) errors[i] = weights[i] - values[i];
  Systems systems = SystemsOf(values, errors, num_rows);
  const auto count = static_cast<size_t>(num_groups());
  for (size_t row = 0; row < static_cast<size_t>(num_rows); ++row) {
    const std::span<double> products = std::span(systems.products).subspan(row * count * count, count * count);
    for (size_t g = 0; g < count; ++g) {
      double& diagonal = products[g * count + g];
      diagonal += kDamping * diagonal + 1e-30;  // 1e-30: a group of zeros, whose scale does not matter
    }
    const std::span<double> factors = std::span(systems.errors).subspan(row * count, count);
    if (!Solve(products, factors)) continue;
    for (double& factor : factors) factor += 1.0;
    if (!(std::ranges::min(factors) > 0.0)) continue;
    MultiplyScales(groups_, factors, blocks + row * RowBytes(groups_.dtype(), n_), n_);
  }
}

}  // namespace adit::quant
