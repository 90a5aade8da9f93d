#include "sample/softmax.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace adit::sample {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Four lanes, which every target has: SSE2 and NEON are part of their base architectures. The compilers' own vector
// type, for they do not vectorise the selects below by themselves.
constexpr size_t kLanes = 4;
using Floats = float __attribute__((vector_size(16)));
using Bits = uint32_t __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(16)));

// Values between two looks at the running maximum: 16 KiB stay in the first-level cache for the second look.
constexpr size_t kBestChunk = 4096;

inline Floats Load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof(values));
  return values;
}

// The last values of a row, fewer than kLanes, and NaN behind them.
inline Floats LoadTail(std::span<const float> tail) {
  Floats values = {kNaN, kNaN, kNaN, kNaN};
  std::memcpy(&values, tail.data(), tail.size_bytes());
  return values;
}

// exp(d) for d <= 0; 0 where d is NaN or below -87, near where float32 ends. With t = d * log2(e) split into the
// nearest integer n and a rest f in [-0.5, 0.5], the result is 2^n times a minimax polynomial for 2^f whose constant
// term is exactly 1. The polynomial is right to 4.5e-7; rounding t and log2(e) adds 7.5e-8 * |d| at most. Its terms are
// summed in pairs, for the loops that call this wait for results, not for free arithmetic units.
inline Floats ExpNonPositive(Floats d) {
  constexpr float kLowest = -87.0f;
  constexpr float kLog2E = 1.44269504f;
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits of the float.
  constexpr float kRound = 12582912.0f;
  const auto in_range = std::bit_cast<Bits>(d >= kLowest);
  const Floats t = d * kLog2E;
  const Floats shifted = t + kRound;
  const Floats f = t - (shifted - kRound);
  const Floats f2 = f * f;
  const Floats p01 = f * 0.693142831f + 1.0f;
  const Floats p23 = f * 0.0555741452f + 0.240223497f;
  const Floats p45 = f * 0.00111255387f + 0.00966637861f;
  const Floats p = p01 + f2 * (p23 + f2 * p45);
  const Bits scale = std::bit_cast<Bits>(shifted) << 23;
  return std::bit_cast<Floats>((std::bit_cast<Bits>(p) + scale) & in_range);
}

}  // namespace

float MaxLogit(std::span<const float> logits) {
  constexpr size_t kChains = 4;  // enough to hide the latency of a maximum
  Floats chains[kChains];
  for (Floats& chain : chains) chain = Floats{} - kInf;  // NaN loses every comparison
  size_t i = 0;
  for (; i + kChains * kLanes <= logits.size(); i += kChains * kLanes) {
    for (size_t c = 0; c < kChains; ++c) {
      const Floats values = Load(&logits[i + c * kLanes]);
      chains[c] = values > chains[c] ? values : chains[c];
    }
  }
  float max = -kInf;
  for (; i < logits.size(); ++i) max = logits[i] > max ? logits[i] : max;
  for (const Floats& chain : chains) {
    for (size_t j = 0; j < kLanes; ++j) max = std::max(max, chain[j]);
  }
  return max;
}

BestLogit FindBest(std::span<const float> logits) {
  float best = -kInf;
  size_t best_chunk = 0;
  for (size_t begin = 0; begin < logits.size(); begin += kBestChunk) {
    const float max = MaxLogit(logits.subspan(begin, std::min(kBestChunk, logits.size() - begin)));
    if (max > best) {
      best = max;
      best_chunk = begin;
    }
  }
  if (best == -kInf) return {};
  const auto found = std::find(logits.begin() + static_cast<std::ptrdiff_t>(best_chunk), logits.end(), best);
  return {best, found - logits.begin()};
}

void ExpWeights(std::span<const float> logits, float max, std::span<float> weights) {
  ADIT_DCHECK(weights.size() == logits.size());
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    const Floats values = ExpNonPositive(Load(&logits[i]) - max);
    std::memcpy(&weights[i], &values, sizeof(values));
  }
  if (i == logits.size()) return;
  const Floats values = ExpNonPositive(LoadTail(logits.subspan(i)) - max);
  std::memcpy(&weights[i], &values, (logits.size() - i) * sizeof(float));
}

double SumExp(std::span<const float> logits, float max) {
  // Eight weights are added as floats before they join a lane of doubles: that rounds by less than 2^-21 of their sum,
  // as much as the weights themselves are off, and leaves an eighth of the conversions to double.
  constexpr size_t kGroup = 8;
  Doubles low = {};
  Doubles high = {};
  size_t i = 0;
  for (; i + kGroup * kLanes <= logits.size(); i += kGroup * kLanes) {
    Floats sum = {};
    for (size_t g = 0; g < kGroup; ++g) sum += ExpNonPositive(Load(&logits[i + g * kLanes]) - max);
    low += Doubles{sum[0], sum[1]};
    high += Doubles{sum[2], sum[3]};
  }
  for (; i < logits.size(); i += kLanes) {
    const std::span<const float> rest = logits.subspan(i, std::min(kLanes, logits.size() - i));
    const Floats sum = ExpNonPositive(LoadTail(rest) - max);
    low += Doubles{sum[0], sum[1]};
    high += Doubles{sum[2], sum[3]};
  }
  return (low[0] + low[1]) + (high[0] + high[1]);
}

LogSoftmax::LogSoftmax(std::span<const float> logits, BestLogit best) : max_(best.logit) {
  ADIT_DCHECK(best.index >= 0);
  const double sum =
      max_ == kInf ? static_cast<double>(std::count(logits.begin(), logits.end(), kInf)) : SumExp(logits, max_);
  log_sum_ = std::log(sum);
}

double LogSoftmax::operator()(float logit) const {
  if (max_ == kInf) return logit == kInf ? -log_sum_ : -std::numeric_limits<double>::infinity();
  if (std::isnan(logit)) return -std::numeric_limits<double>::infinity();
  return (static_cast<double>(logit) - static_cast<double>(max_)) - log_sum_;
}

}  // namespace adit::sample
