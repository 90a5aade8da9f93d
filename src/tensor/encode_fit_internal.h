#ifndef ADIT_TENSOR_ENCODE_FIT_INTERNAL_H_
#define ADIT_TENSOR_ENCODE_FIT_INTERNAL_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tensor/half.h"
#include "tensor/iq4_nl.h"

// Search for the scales of a block of 256 elements that make the weighted square of its error small: first those of
// each group by itself, over a range of scales with the best one for their codes by least squares; then whole numbers
// for them and their neighbours, and the factors of the block by least squares again, as long as that gains.
namespace adit::encode {

inline constexpr int kElements = 256;
inline constexpr int kRounds = 4;

// The nearest whole number, of two the even one, for |x| < 2^22: adding 1.5 * 2^23 rounds, and leaves the number in the
// low bits. A few instructions on every processor, where std::nearbyint is a call.
inline int Rounded(float x) {
  const auto bits = std::bit_cast<int32_t>(x + 12582912.0f);
  return (bits & 0x007fffff) - 0x00400000;
}

// Whole numbers in [kLowest, kHighest].
template <int kLowest, int kHighest>
struct WholeLevels {
  static constexpr float kLow = kLowest;
  static constexpr float kHigh = kHighest;
  static int Nearest(float x) {
    if (!(x > kLow)) return kLowest;
    return x >= kHigh ? kHighest : Rounded(x);
  }
  static float Value(int level) { return static_cast<float>(level); }
};

// The values of IQ4_NL; a level is an index.
struct TableLevels {
  static constexpr float kLow = kIQ4NLValues[0];
  static constexpr float kHigh = kIQ4NLValues[15];
  static int Nearest(float x) {
    int level = 0;
    for (int i = 0; i < 15; ++i) level += x > 0.5f * (Value(i) + Value(i + 1)) ? 1 : 0;
    return level;
  }
  static constexpr float Value(int level) { return static_cast<float>(kIQ4NLValues[level]); }
};

inline float InverseOrZero(float x) { return x != 0.0f ? 1.0f / x : 0.0f; }

// The scale s for which s * level is nearest to x, a weighted sum of squares over n elements; of either sign.
template <class Levels>
float FitScale(const float* x, const float* weights, int n) {
  float peak = 0.0f;
  for (int i = 0; i < n; ++i) {
    if (std::abs(x[i]) > std::abs(peak)) peak = x[i];
  }
  if (peak == 0.0f) return 0.0f;
  float best_scale = 0.0f;
  float best_gain = 0.0f;  // what of the sum of squares goes away
  const auto consider = [&](float inverse) {
    float product = 0.0f;
    float square = 0.0f;
    for (int i = 0; i < n; ++i) {
      const float value = Levels::Value(Levels::Nearest(inverse * x[i]));
      product += weights[i] * value * x[i];
      square += weights[i] * value * value;
    }
    if (square <= 0.0f || product * product <= best_gain * square) return;
    best_gain = product * product / square;
    best_scale = product / square;
  };
  constexpr float kSpan = Levels::kHigh - Levels::kLow;
  for (int step = -12; step <= 12; ++step) {
    const float move = 0.008f * kSpan * static_cast<float>(step);
    consider((Levels::kLow + move) / peak);
    consider((Levels::kHigh + move) / peak);
  }
  for (int round = 0; round < 2; ++round) consider(InverseOrZero(best_scale));
  return best_scale;
}

// x is near scale * q - min, with q in 0..max_code, and neither scale nor min below 0.
struct AffineFit {
  float scale = 0.0f;
  float min = 0.0f;
};

inline int AffineCode(float x, float inverse_scale, float min, int max_code) {
  const float q = (x + min) * inverse_scale;
  if (!(q > 0.0f)) return 0;
  return q >= static_cast<float>(max_code) ? max_code : Rounded(q);
}

// Weighted squares of the error of a group.
inline float AffineError(const float* x, const float* weights, int n, const AffineFit& fit, int max_code) {
  const float inverse = InverseOrZero(fit.scale);
  float error = 0.0f;
  for (int i = 0; i < n; ++i) {
    const auto code = static_cast<float>(AffineCode(x[i], inverse, fit.min, max_code));
    const float difference = fit.scale * code - fit.min - x[i];
    error += weights[i] * difference * difference;
  }
  return error;
}

// The best scale and min for the codes that `fit` gives: least squares, with min at 0 where it would fall below.
inline AffineFit BestForCodes(const float* x, const float* weights, int n, const AffineFit& fit, int max_code) {
  const float inverse = InverseOrZero(fit.scale);
  float sum_w = 0.0f, sum_x = 0.0f, sum_q = 0.0f, sum_qq = 0.0f, sum_qx = 0.0f;
  for (int i = 0; i < n; ++i) {
    const auto q = static_cast<float>(AffineCode(x[i], inverse, fit.min, max_code));
    const float w = weights[i];
    sum_w += w;
    sum_x += w * x[i];
    sum_q += w * q;
    sum_qq += w * q * q;
    sum_qx += w * q * x[i];
  }
  const float determinant = sum_w * sum_qq - sum_q * sum_q;
  AffineFit best;
  if (determinant > 0.0f) {
    best.scale = (sum_w * sum_qx - sum_x * sum_q) / determinant;
    best.min = (sum_q * sum_qx - sum_qq * sum_x) / determinant;
  }
  if (determinant <= 0.0f || best.min < 0.0f) best = {.scale = sum_qq > 0.0f ? sum_qx / sum_qq : 0.0f, .min = 0.0f};
  if (!(best.scale > 0.0f)) best.scale = 0.0f;
  return best;
}

inline AffineFit FitAffine(const float* x, const float* weights, int n, int max_code) {
  const auto [least, most] = std::minmax_element(x, x + n);
  const float low = std::min(*least, 0.0f);
  const float range = *most - low;
  if (!(range > 0.0f)) return {.scale = 0.0f, .min = -low};
  const auto codes = static_cast<float>(max_code);
  AffineFit best{.scale = range / codes, .min = -low};
  float best_error = AffineError(x, weights, n, best, max_code);
  const auto consider = [&](const AffineFit& fit) {
    const float error = AffineError(x, weights, n, fit, max_code);
    if (error >= best_error) return;
    best_error = error;
    best = fit;
  };
  // From a third more codes than there are, which cuts the largest elements, to a few less.
  const float step = std::max(0.1f, codes * 0.01f);
  for (float wanted = codes - 10.0f * step; wanted < codes * 1.2f + 10.0f * step; wanted += step) {
    if (wanted < 0.5f) continue;
    consider(BestForCodes(x, weights, n, {.scale = range / wanted, .min = -low}, max_code));
  }
  for (int round = 0; round < 2; ++round) consider(BestForCodes(x, weights, n, best, max_code));
  return best;
}

// A block of groups x = d * scale[g] * q - dmin * min[g].
template <int kGroups>
struct AffineBlock {
  uint16_t d = 0;  // binary16
  uint16_t dmin = 0;
  std::array<uint8_t, kGroups> scales = {};
  std::array<uint8_t, kGroups> mins = {};
  std::array<uint8_t, kElements> codes = {};
};

// Whether all of the block can be told in numbers; where not, its scale is NaN, and so is all of it.
inline bool IsFinite(const float* x) {
  return std::all_of(x, x + kElements, [](float value) { return std::isfinite(value); });
}
inline constexpr uint16_t kHalfNan = 0x7e00;

// What an element's error counts. `importance` [256], or null: then large elements count more, since they are met by
// what they were trained with.
inline void AffineWeights(const float* x, const float* importance, int begin, int n, float* weights) {
  float squares = 0.0f;
  const int first = importance != nullptr ? 0 : begin;
  const int count = importance != nullptr ? kElements : n;
  for (int i = first; i < first + count; ++i) squares += x[i] * x[i];
  const float mean = squares / static_cast<float>(count);
  for (int i = 0; i < n; ++i) {
    const float value = x[begin + i];
    weights[begin + i] = importance != nullptr ? importance[begin + i] * std::sqrt(2.0f * mean + value * value)
                                               : std::sqrt(mean) + std::abs(value);
  }
}

inline void ScaleWeights(const float* x, const float* importance, float* weights) {
  float squares = 0.0f;
  for (int i = 0; i < kElements; ++i) squares += x[i] * x[i];
  const float mean = squares / static_cast<float>(kElements);
  for (int i = 0; i < kElements; ++i) {
    weights[i] = (importance != nullptr ? importance[i] : 1.0f) * std::sqrt(2.0f * mean + x[i] * x[i]);
  }
}

inline uint8_t WholeNear(float x, int most) {
  if (!(x > 0.0f)) return 0;
  return static_cast<uint8_t>(x >= static_cast<float>(most) ? most : Rounded(x));
}

// Chooses the scale and min of group g, of those next to `fit`, that give the least error; returns that.
template <int kGroups, int kMaxCode, int kMaxScale>
float ChooseNumbers(const float* x, const float* weights, int g, const AffineFit& fit, AffineBlock<kGroups>& block) {
  constexpr int kSize = kElements / kGroups;
  const float d = HalfToFloat(block.d);
  const float dmin = HalfToFloat(block.dmin);
  const int scale = WholeNear(fit.scale * InverseOrZero(d), kMaxScale);
  const int min = WholeNear(fit.min * InverseOrZero(dmin), kMaxScale);
  float least = INFINITY;
  for (int s = std::max(scale - 1, 0); s <= std::min(scale + 1, kMaxScale); ++s) {
    for (int m = std::max(min - 1, 0); m <= std::min(min + 1, kMaxScale); ++m) {
      const AffineFit rounded{.scale = d * static_cast<float>(s), .min = dmin * static_cast<float>(m)};
      const float error = AffineError(x + g * kSize, weights + g * kSize, kSize, rounded, kMaxCode);
      if (error >= least) continue;
      least = error;
      block.scales[static_cast<size_t>(g)] = static_cast<uint8_t>(s);
      block.mins[static_cast<size_t>(g)] = static_cast<uint8_t>(m);
    }
  }
  return least;
}

// The codes of the chosen numbers, and the factors d and dmin that are best for them.
template <int kGroups, int kMaxCode>
void PutCodes(const float* x, const float* weights, AffineBlock<kGroups>& block, float& best_d, float& best_dmin) {
  constexpr int kSize = kElements / kGroups;
  const float d = HalfToFloat(block.d);
  const float dmin = HalfToFloat(block.dmin);
  double aa = 0.0, ab = 0.0, bb = 0.0, ax = 0.0, bx = 0.0;
  for (int i = 0; i < kElements; ++i) {
    const auto g = static_cast<size_t>(i / kSize);
    const float scale = d * static_cast<float>(block.scales[g]);
    const float min = dmin * static_cast<float>(block.mins[g]);
    const int code = AffineCode(x[i], InverseOrZero(scale), min, kMaxCode);
    block.codes[static_cast<size_t>(i)] = static_cast<uint8_t>(code);
    const double a = static_cast<double>(block.scales[g]) * code;
    const double b = -static_cast<double>(block.mins[g]);
    aa += weights[i] * a * a;
    ab += weights[i] * a * b;
    bb += weights[i] * b * b;
    ax += weights[i] * a * x[i];
    bx += weights[i] * b * x[i];
  }
  const double determinant = aa * bb - ab * ab;
  best_d = d;
  best_dmin = dmin;
  if (determinant > 1e-12 * aa * bb) {
    best_d = static_cast<float>((ax * bb - bx * ab) / determinant);
    best_dmin = static_cast<float>((bx * aa - ax * ab) / determinant);
  } else if (aa > 0.0 && bb == 0.0) {
    best_d = static_cast<float>(ax / aa);
  }
  if (!(best_d > 0.0f) || !(best_dmin >= 0.0f)) {
    best_d = d;
    best_dmin = dmin;
  }
}

template <int kGroups, int kMaxCode, int kMaxScale>
AffineBlock<kGroups> EncodeAffine(const float* x, const float* importance) {
  constexpr int kSize = kElements / kGroups;
  AffineBlock<kGroups> block;
  if (!IsFinite(x)) {
    block.d = kHalfNan;
    return block;
  }
  std::array<float, kElements> weights;
  std::array<AffineFit, kGroups> fits;
  AffineFit most;
  for (int g = 0; g < kGroups; ++g) {
    AffineWeights(x, importance, g * kSize, kSize, weights.data());
    fits[static_cast<size_t>(g)] = FitAffine(x + g * kSize, weights.data() + g * kSize, kSize, kMaxCode);
    most.scale = std::max(most.scale, fits[static_cast<size_t>(g)].scale);
    most.min = std::max(most.min, fits[static_cast<size_t>(g)].min);
  }
  block.d = FloatToHalf(most.scale / static_cast<float>(kMaxScale));
  block.dmin = FloatToHalf(most.min / static_cast<float>(kMaxScale));
  AffineBlock<kGroups> best = block;
  float least = INFINITY;
  for (int round = 0; round < kRounds; ++round) {
    float error = 0.0f;
    for (int g = 0; g < kGroups; ++g) {
      error += ChooseNumbers<kGroups, kMaxCode, kMaxScale>(x, weights.data(), g, fits[static_cast<size_t>(g)], block);
    }
    float d = 0.0f;
    float dmin = 0.0f;
    PutCodes<kGroups, kMaxCode>(x, weights.data(), block, d, dmin);
    if (!(error < least)) break;
    least = error;
    best = block;
    block.d = FloatToHalf(d);
    block.dmin = FloatToHalf(dmin);
    if (block.d == best.d && block.dmin == best.dmin) break;
  }
  return best;
}

// A block of groups x = d * scale[g] * value of level, with scales in [-kMaxScale, kMaxScale - 1].
template <int kGroups>
struct ScaleBlock {
  uint16_t d = 0;
  std::array<int8_t, kGroups> scales = {};
  std::array<int8_t, kElements> levels = {};
};

// Levels of group g for its scale; adds to the sums of least squares. Returns the error.
template <class Levels, int kGroups>
float PutLevels(const float* x, const float* weights, int g, int scale, ScaleBlock<kGroups>& block) {
  constexpr int kSize = kElements / kGroups;
  const float factor = HalfToFloat(block.d) * static_cast<float>(scale);
  const float inverse = InverseOrZero(factor);
  float error = 0.0f;
  for (int i = g * kSize; i < (g + 1) * kSize; ++i) {
    const int level = Levels::Nearest(inverse * x[i]);
    block.levels[static_cast<size_t>(i)] = static_cast<int8_t>(level);
    const float difference = factor * Levels::Value(level) - x[i];
    error += weights[i] * difference * difference;
  }
  block.scales[static_cast<size_t>(g)] = static_cast<int8_t>(scale);
  return error;
}

template <class Levels, int kMaxScale, int kGroups>
float ChooseScale(const float* x, const float* weights, int g, float fit, ScaleBlock<kGroups>& block) {
  const float wanted = fit * InverseOrZero(HalfToFloat(block.d));
  const int near = WholeLevels<-kMaxScale, kMaxScale - 1>::Nearest(wanted);
  int best = near;
  float least = INFINITY;
  for (int scale = std::max(near - 1, -kMaxScale); scale <= std::min(near + 1, kMaxScale - 1); ++scale) {
    const float error = PutLevels<Levels>(x, weights, g, scale, block);
    if (error >= least) continue;
    least = error;
    best = scale;
  }
  return PutLevels<Levels>(x, weights, g, best, block);
}

// The factor d that is best for the scales and levels.
template <class Levels, int kGroups>
float BestFactor(const float* x, const float* weights, const ScaleBlock<kGroups>& block) {
  double product = 0.0;
  double square = 0.0;
  for (int i = 0; i < kElements; ++i) {
    const double value = static_cast<double>(block.scales[static_cast<size_t>(i / (kElements / kGroups))]) *
                         Levels::Value(block.levels[static_cast<size_t>(i)]);
    product += weights[i] * value * x[i];
    square += weights[i] * value * value;
  }
  return square > 0.0 ? static_cast<float>(product / square) : HalfToFloat(block.d);
}

template <class Levels, int kGroups, int kMaxScale>
ScaleBlock<kGroups> EncodeScaled(const float* x, const float* importance) {
  constexpr int kSize = kElements / kGroups;
  ScaleBlock<kGroups> block;
  if (!IsFinite(x)) {
    block.d = kHalfNan;
    return block;
  }
  std::array<float, kElements> weights;
  ScaleWeights(x, importance, weights.data());
  std::array<float, kGroups> fits;
  float most = 0.0f;
  for (int g = 0; g < kGroups; ++g) {
    const float fit = FitScale<Levels>(x + g * kSize, weights.data() + g * kSize, kSize);
    fits[static_cast<size_t>(g)] = fit;
    if (std::abs(fit) > std::abs(most)) most = fit;
  }
  // The largest scale is -kMaxScale, of which there is one more than of the positive ones.
  block.d = FloatToHalf(most / static_cast<float>(-kMaxScale));
  ScaleBlock<kGroups> best = block;
  float least = INFINITY;
  for (int round = 0; round < kRounds; ++round) {
    float error = 0.0f;
    for (int g = 0; g < kGroups; ++g) {
      error += ChooseScale<Levels, kMaxScale>(x, weights.data(), g, fits[static_cast<size_t>(g)], block);
    }
    if (!(error < least)) break;
    least = error;
    best = block;
    block.d = FloatToHalf(BestFactor<Levels>(x, weights.data(), block));
    if (block.d == best.d) break;
  }
  return best;
}

}  // namespace adit::encode

#endif  // ADIT_TENSOR_ENCODE_FIT_INTERNAL_H_
