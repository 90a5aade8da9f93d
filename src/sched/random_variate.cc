#include "sched/random_variate.h"

#include <cmath>
#include <numbers>

#include "base/rng.h"

namespace adit::sched {
namespace {

// Two independent numbers in (0, 1), both ends left out so that logarithms are finite.
struct UniformPair {
  double first;
  double second;
};

double OpenUniform(uint32_t high, uint32_t low) {
  return (static_cast<double>((uint64_t{high} << 32 | low) >> 11) + 0.5) * 0x1p-53;
}

// The word that RandomBits leaves at 0 counts the pairs of one position, from 1.
UniformPair Uniforms(uint64_t seed, uint64_t position, uint32_t stream, uint32_t index) {
  const auto words =
      Philox4x32({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), stream, index + 1},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return {OpenUniform(words[0], words[1]), OpenUniform(words[2], words[3])};
}

double Normal(const UniformPair& pair) {
  return std::sqrt(-2.0 * std::log(pair.first)) * std::cos(2.0 * std::numbers::pi * pair.second);
}

}  // namespace

double StandardNormal(uint64_t seed, uint64_t position, uint32_t stream) {
  return Normal(Uniforms(seed, position, stream, 0));
}

double StandardExponential(uint64_t seed, uint64_t position, uint32_t stream) {
  return -std::log(Uniforms(seed, position, stream, 0).first);
}

double Gamma(double shape, uint64_t seed, uint64_t position, uint32_t stream) {
  // The method is for shapes of 1 and above; Gamma(a) is Gamma(a + 1) * U^(1/a).
  const double raised = shape < 1.0 ? shape + 1.0 : shape;
  const double d = raised - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (uint32_t attempt = 0;; ++attempt) {
    const double x = Normal(Uniforms(seed, position, stream, 2 * attempt));
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const auto [u, power_base] = Uniforms(seed, position, stream, 2 * attempt + 1);
    if (std::log(u) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
    return shape < 1.0 ? d * v * std::pow(power_base, 1.0 / shape) : d * v;
  }
}

}  // namespace adit::sched
