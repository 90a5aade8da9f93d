#ifndef ADIT_KERNELS_TEST_DATA_H_
#define ADIT_KERNELS_TEST_DATA_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

// Random operands and comparisons for the tests of kernels; fixed seeds.
namespace adit::kernels {

class RandomFloats {
 public:
  explicit RandomFloats(uint32_t seed) : bits_(seed) {}

  // Uniform in -limit..limit.
  float Next(float limit = 1.0f) { return limit * (static_cast<float>(bits_() >> 8) * 0x1p-23f - 1.0f); }
  // Uniform in low..high.
  int64_t NextInt(int64_t low, int64_t high) { return low + static_cast<int64_t>(bits_() % (high - low + 1)); }
  std::vector<float> Vector(int64_t size, float limit = 1.0f) {
    std::vector<float> values(static_cast<size_t>(size));
    for (float& value : values) value = Next(limit);
    return values;
  }

 private:
  std::mt19937 bits_;
};

// Values at an address that is a multiple of 4 bytes and of no more. What lies on either side of them is a known
// pattern.
class MisalignedFloats {
 public:
  explicit MisalignedFloats(std::span<const float> values) : storage_(values.size() + 2 * kMargin, kPattern) {
    offset_ = kMargin;
    while (reinterpret_cast<uintptr_t>(storage_.data() + offset_) % 8 == 0) ++offset_;
    size_ = values.size();
    std::ranges::copy(values, data());
  }

  float* data() { return storage_.data() + offset_; }
  const float* data() const { return storage_.data() + offset_; }
  std::span<float> span() { return {data(), size_}; }
  float operator[](size_t i) const { return storage_[offset_ + i]; }
  // Whether nothing was written beside the values.
  bool MarginsIntact() const {
    for (size_t i = 0; i < storage_.size(); ++i) {
      if ((i < offset_ || i >= offset_ + size_) && storage_[i] != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 17;
  static constexpr float kPattern = -12345.5f;
  std::vector<float> storage_;
  size_t offset_ = 0;
  size_t size_ = 0;
};

// The rounding error of one operation, relative to its result.
inline constexpr double kEpsilon = 0x1p-24;

// Each element of `got` within its tolerance of `want`; the worst is printed.
inline ::testing::AssertionResult AllWithin(std::span<const float> got, std::span<const double> want,
                                            std::span<const double> tolerance) {
  if (got.size() != want.size() || got.size() != tolerance.size()) {
    return ::testing::AssertionFailure() << "sizes " << got.size() << ", " << want.size() << ", " << tolerance.size();
  }
  size_t worst = 0;
  double worst_ratio = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - want[i]);
    const double ratio = error == 0.0 ? 0.0 : error / tolerance[i];
    if (std::isnan(ratio) || ratio > worst_ratio) {
      worst = i;
      worst_ratio = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    }
  }
  if (worst_ratio <= 1.0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "element " << worst << " of " << got.size() << ": got " << got[worst]
                                       << ", want " << want[worst] << " within " << tolerance[worst];
}

// The same bits, NaN included.
inline ::testing::AssertionResult SameBits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << "sizes " << a.size() << ", " << b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) {
      return ::testing::AssertionFailure() << "element " << i << " of " << a.size() << ": " << a[i] << " and " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_TEST_DATA_H_
