#include "tensor/encode_groups.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/half.h"
#include "tensor/int4.h"
#include "tensor/int8.h"

namespace adit {
namespace {

constexpr int64_t kBlockCols = 32;
// Shares of the full span that are tried: 1, and down to about half of it.
constexpr int kShrinkSteps = 24;
constexpr float kShrink = 0.02f;

struct GroupScale {
  float scale = 0.0f;
  int zero = 0;
};

struct Span {
  float low = 0.0f;  // at most 0
  float high = 0.0f;
  bool is_finite = true;
};

Span SpanOf(const float* x, int64_t n) {
  Span span;
  for (int64_t i = 0; i < n; ++i) {
    span.is_finite &= std::isfinite(x[i]);
    span.low = std::min(span.low, x[i]);
    span.high = std::max(span.high, x[i]);
  }
  return span;
}

float Stored(const GroupScales& groups, float scale) {
  return groups.half_scales ? HalfToFloat(FloatToHalf(scale)) : scale;
}

// The scale and zero of codes that span `share` of what the group does.
GroupScale ScaleFor(const GroupScales& groups, const Span& span, float share) {
  const auto last = static_cast<float>(groups.num_codes() - 1);
  GroupScale out;
  if (groups.symmetric) {
    const float peak = std::max(-span.low, span.high);
    // Of the codes of eight bits the least is not used, so that both ends are as far away.
    out.scale = share * peak * 2.0f / (groups.bits == 8 ? last - 1.0f : last);
    out.zero = groups.num_codes() / 2;
  } else {
    out.scale = share * (span.high - span.low) / last;
  }
  out.scale = Stored(groups, out.scale);
  if (!groups.symmetric) {
    const float zero = out.scale > 0.0f ? std::nearbyint(-share * span.low / out.scale) : 0.0f;
    out.zero = std::clamp(static_cast<int>(zero), groups.least_zero, groups.num_codes() - 1);
  }
  return out;
}

int CodeOf(const GroupScales& groups, const GroupScale& scale, float x) {
  if (!(scale.scale > 0.0f)) return scale.zero;
  const float level = std::nearbyint(x / scale.scale) + static_cast<float>(scale.zero);
  return static_cast<int>(std::clamp(level, 0.0f, static_cast<float>(groups.num_codes() - 1)));
}

float GroupError(const GroupScales& groups, const GroupScale& scale, const float* x, const float* importance,
                 int64_t n) {
  float sum = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    const float error = x[i] - scale.scale * static_cast<float>(CodeOf(groups, scale, x[i]) - scale.zero);
    sum += importance[i] * error * error;
  }
  return sum;
}

// The scale that fits the codes that `scale` gives by least squares, and so makes up for the magnitude they have lost.
GroupScale Refitted(const GroupScales& groups, GroupScale scale, const float* x, const float* importance, int64_t n) {
  float products = 0.0f;
  float squares = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    const auto level = static_cast<float>(CodeOf(groups, scale, x[i]) - scale.zero);
    products += importance[i] * level * x[i];
    squares += importance[i] * level * level;
  }
  if (products > 0.0f && squares > 0.0f) scale.scale = Stored(groups, products / squares);
  return scale;
}

GroupScale BestScale(const GroupScales& groups, const float* x, const float* importance, int64_t n) {
  const Span span = SpanOf(x, n);
  if (!span.is_finite) return {.scale = std::numeric_limits<float>::quiet_NaN(), .zero = groups.num_codes() / 2};
  GroupScale best = ScaleFor(groups, span, 1.0f);
  if (importance == nullptr || !groups.narrows) return best;
  float least = GroupError(groups, best, x, importance, n);
  for (int i = 0; i <= kShrinkSteps; ++i) {
    const GroupScale narrower = ScaleFor(groups, span, 1.0f - kShrink * static_cast<float>(i));
    const GroupScale scale = Refitted(groups, narrower, x, importance, n);
    const float error = GroupError(groups, scale, x, importance, n);
    if (!(error < least)) continue;
    least = error;
    best = scale;
  }
  return best;
}

void PutInt4Block(const GroupScales& groups, const GroupScale& scale, const float* x, std::byte* out) {
  BlockInt4 block{};
  block.d = FloatToHalf(scale.scale);
  block.zero = static_cast<uint8_t>(scale.zero);
  for (int j = 0; j < kBlockCols / 2; ++j) {
    const int low = CodeOf(groups, scale, x[j]);
    const int high = CodeOf(groups, scale, x[j + kBlockCols / 2]);
    block.qs[j] = static_cast<uint8_t>(low | high << 4);
  }
  std::memcpy(out, &block, sizeof(block));
}

void PutInt8Block(const GroupScales& groups, const GroupScale& scale, const float* x, std::byte* out) {
  BlockInt8 block{};
  block.d = scale.scale;
  for (int j = 0; j < kBlockCols; ++j) {
    block.qs[j] = static_cast<int8_t>(CodeOf(groups, scale, x[j]) - scale.zero);
  }
  std::memcpy(out, &block, sizeof(block));
}

}  // namespace

void EncodeGroups(const GroupScales& groups, const float* row, const float* importance, std::byte* out,
                  int64_t num_cols) noexcept {
  const int64_t group_size = groups.group_size > 0 ? groups.group_size : num_cols;
  const auto block_bytes = static_cast<size_t>(Traits(groups.dtype()).block_bytes);
  for (int64_t begin = 0; begin < num_cols; begin += group_size) {
    const float* weights = importance == nullptr ? nullptr : importance + begin;
    const GroupScale scale = BestScale(groups, row + begin, weights, group_size);
    for (int64_t at = begin; at < begin + group_size; at += kBlockCols, out += block_bytes) {
      if (groups.bits == 8) {
        PutInt8Block(groups, scale, row + at, out);
      } else {
        PutInt4Block(groups, scale, row + at, out);
      }
    }
  }
}

void MultiplyScales(const GroupScales& groups, std::span<const double> factors, std::byte* row,
                    int64_t num_cols) noexcept {
  const int64_t group_size = groups.group_size > 0 ? groups.group_size : num_cols;
  for (int64_t b = 0; b < num_cols / kBlockCols; ++b) {
    const auto factor = static_cast<float>(factors[static_cast<size_t>(b * kBlockCols / group_size)]);
    if (groups.bits == 8) {
      BlockInt8& block = reinterpret_cast<BlockInt8*>(row)[b];
      block.d = Stored(groups, block.d * factor);
    } else {
      BlockInt4& block = reinterpret_cast<BlockInt4*>(row)[b];
      block.d = FloatToHalf(HalfToFloat(block.d) * factor);
    }
  }
}

}  // namespace adit
