#include "quant/smooth_quant.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/aligned_buffer.h"
#include "base/error.h"
#include "nn/linear.h"

namespace adit::quant {
namespace {

// `x` as codes of -127..127 with one scale, widened again.
void RoundTo8Bits(std::span<float> x) {
  float peak = 0.0f;
  for (const float value : x) peak = std::max(peak, std::abs(value));
  if (!(peak > 0.0f)) return;
  const float scale = peak / 127.0f;
  for (float& value : x) value = scale * std::clamp(std::nearbyint(value / scale), -127.0f, 127.0f);
}

// rows times tokens, [num_tokens, num_rows].
Result<std::vector<float>> Outputs(const std::vector<float>& rows, const std::vector<float>& tokens, int64_t n,
                                   const nn::ExecContext& context) {
  const int64_t num_rows = static_cast<int64_t>(rows.size()) / n;
  const int64_t num_tokens = static_cast<int64_t>(tokens.size()) / n;
  nn::PackedMatrix matrix(context.kernels, DType::kF32, num_rows, n);
  AlignedBuffer panels;
  const auto* bytes = reinterpret_cast<const std::byte*>(rows.data());
  if (matrix.needs_packing()) {
    ADIT_ASSIGN_OR_RETURN(panels, AlignedBuffer::Allocate(matrix.packed_bytes(), "smoothquant"));
    matrix.PackRows(bytes, num_rows, panels.data());
    matrix.set_data(panels.data());
  } else {
    matrix.set_data(bytes);
  }
  std::vector<float> out(static_cast<size_t>(num_tokens * num_rows));
  context.team.Run([&](Worker& worker) {
    for (int64_t panel; (panel = worker.Claim()) < matrix.num_panels();) {
      matrix.Multiply({.activations = {.f32 = tokens.data(), .f32_stride = n},
                       .num_tokens = num_tokens,
                       .out = out.data(),
                       .out_stride = num_rows},
                      panel, panel + 1);
    }
  });
  return out;
}

// Rows of `n` times `factors`, or divided by them, each row rounded to 8 bits.
std::vector<float> ScaledAndRounded(std::span<const float> rows, std::span<const float> factors, bool divide) {
  const size_t n = factors.size();
  std::vector<float> out(rows.begin(), rows.end());
  for (size_t begin = 0; begin < out.size(); begin += n) {
    const std::span<float> row(out.data() + begin, n);
    for (size_t i = 0; i < n; ++i) row[i] = divide ? row[i] / factors[i] : row[i] * factors[i];
    RoundTo8Bits(row);
  }
  return out;
}

Result<double> LossOf(const InputSample& sample, std::span<const float> rows, std::span<const float> scales,
                      const std::vector<float>& wanted, const nn::ExecContext& context) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<float> got, Outputs(ScaledAndRounded(rows, scales, /*divide=*/false),
                                                              ScaledAndRounded(sample.tokens, scales, /*divide=*/true),
                                                              sample.num_columns(), context));
  double loss = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = static_cast<double>(got[i]) - static_cast<double>(wanted[i]);
    loss += difference * difference;
  }
  return loss;
}

// Those of zero become the least of the others.
std::vector<float> WithoutZeros(std::span<const float> values) {
  float least = std::numeric_limits<float>::infinity();
  for (const float value : values) {
    if (value > 0.0f) least = std::min(least, value);
  }
  if (std::isinf(least)) least = 1.0f;
  std::vector<float> out;
  for (const float value : values) out.push_back(value > 0.0f ? value : least);
  return out;
}

}  // namespace

void InputSample::Add(std::span<const float> columns, int64_t n, int64_t num_tokens, int64_t window,
                      int64_t num_windows) {
  largest.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    float& peak = largest[static_cast<size_t>(i)];
    for (const float value : columns.subspan(static_cast<size_t>(i * num_tokens), static_cast<size_t>(num_tokens))) {
      // A NaN stays one.
      if (!(std::abs(value) <= peak)) peak = std::abs(value);
    }
  }
  // Other places in each window: the first token of a text is unlike the others.
  constexpr int64_t kStagger = 37;
  const int64_t count = std::min(num_tokens, std::max<int64_t>(1, kMaxTokens / num_windows));
  if (window * count >= kMaxTokens) return;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t token = (k * num_tokens / count + window * kStagger) % num_tokens;
    for (int64_t i = 0; i < n; ++i) tokens.push_back(columns[static_cast<size_t>(i * num_tokens + token)]);
  }
}

std::vector<float> SmoothScales(std::span<const float> largest_inputs, std::span<const float> largest_weights, int k) {
  const float strength = static_cast<float>(k) / kSmoothSteps;
  const std::vector<float> inputs = WithoutZeros(largest_inputs);
  const std::vector<float> weights = WithoutZeros(largest_weights);
  std::vector<float> scales;
  for (size_t i = 0; i < inputs.size(); ++i) {
    scales.push_back(std::pow(inputs[i], strength) / std::pow(weights[i], 1.0f - strength));
  }
  const auto [low, high] = std::ranges::minmax(scales);
  const float middle = std::sqrt(low * high);
  for (float& scale : scales) scale /= middle;
  return scales;
}

Result<double> SmoothLoss(const InputSample& sample, std::span<const float> rows, std::span<const float> scales,
                          const nn::ExecContext& context) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<float> wanted, Outputs(std::vector<float>(rows.begin(), rows.end()),
                                                                 sample.tokens, sample.num_columns(), context));
  return LossOf(sample, rows, scales, wanted, context);
}

Result<std::vector<float>> SearchSmoothScales(const InputSample& sample, std::span<const float> rows,
                                              std::span<const float> largest_weights, ColumnSources sources,
                                              const nn::ExecContext& context) {
  for (size_t i = 0; i < sample.largest.size(); ++i) {
    if (!std::isfinite(sample.largest[i])) {
      return Corrupt("smoothquant: the activations of column {} are not finite", i);
    }
  }
  ADIT_ASSIGN_OR_RETURN(const std::vector<float> wanted, Outputs(std::vector<float>(rows.begin(), rows.end()),
                                                                 sample.tokens, sample.num_columns(), context));
  const std::vector<float> inputs = LargestOfSources(sample.largest, sources);
  const std::vector<float> weights =
      LargestOfSources(std::vector<float>(largest_weights.begin(), largest_weights.end()), sources);
  std::vector<float> best(sample.largest.size(), 1.0f);
  ADIT_ASSIGN_OR_RETURN(double least, LossOf(sample, rows, best, wanted, context));
  for (int k = 0; k <= kSmoothSteps; ++k) {
    std::vector<float> scales = SmoothScales(inputs, weights, k);
    ADIT_ASSIGN_OR_RETURN(const double loss, LossOf(sample, rows, scales, wanted, context));
    if (!(loss < least)) continue;
    least = loss;
    best = std::move(scales);
  }
  return best;
}

}  // namespace adit::quant
