#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace adit::nn {
namespace {

double Llama3Scaled(const RopeConfig& config, double frequency) {
  const double wavelength = 2.0 * std::numbers::pi / frequency;
  const double longest_kept = config.original_context / config.high_freq_factor;
  const double shortest_scaled = config.original_context / config.low_freq_factor;
  if (wavelength < longest_kept) return frequency;
  if (wavelength > shortest_scaled) return frequency / config.factor;
  const double smooth = (config.original_context / wavelength - config.low_freq_factor) /
                        (config.high_freq_factor - config.low_freq_factor);
  return (1.0 - smooth) * frequency / config.factor + smooth * frequency;
}

// The pair, as a real number, that turns `rotations` times within the original context.
double YarnPairOf(const RopeConfig& config, double rotations) {
  return config.num_pairs * std::log(config.original_context / (rotations * 2.0 * std::numbers::pi)) /
         std::log(config.theta);
}

double YarnScaled(const RopeConfig& config, int pair, double frequency) {
  const double last = 2.0 * config.num_pairs - 1.0;
  const double low = std::max(std::floor(YarnPairOf(config, config.beta_fast)), 0.0);
  double high = std::min(std::ceil(YarnPairOf(config, config.beta_slow)), last);
  if (low == high) high += 0.001;
  const double interpolated = std::clamp((pair - low) / (high - low), 0.0, 1.0);
  return frequency / config.factor * interpolated + frequency * (1.0 - interpolated);
}

// `divisors`, one for each pair, may be empty.
std::vector<double> Frequencies(const RopeConfig& config, const std::vector<float>& divisors) {
  std::vector<double> frequencies;
  for (int pair = 0; pair < config.num_pairs; ++pair) {
    double frequency = std::pow(config.theta, -static_cast<double>(pair) / config.num_pairs);
    if (!divisors.empty()) frequency /= static_cast<double>(divisors[static_cast<size_t>(pair)]);
    switch (config.scaling) {
      case RopeScaling::kNone:
        break;
      case RopeScaling::kLinear:
        frequency /= config.factor;
        break;
      case RopeScaling::kLlama3:
        frequency = Llama3Scaled(config, frequency);
        break;
      case RopeScaling::kYarn:
        frequency = YarnScaled(config, pair, frequency);
        break;
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}

}  // namespace

Rope::Rope(RopeConfig config) : config_(std::move(config)) {
  inverse_frequencies_ = Frequencies(config_, config_.frequency_divisors);
  if (!config_.long_divisors.empty()) long_inverse_frequencies_ = Frequencies(config_, config_.long_divisors);
  if (config_.attention_factor > 0.0) {
    attention_factor_ = config_.attention_factor;
  } else if (config_.scaling == RopeScaling::kYarn) {
    attention_factor_ = 0.1 * std::log(std::max(config_.factor, 1.0)) + 1.0;
  }
}

void Rope::Angles(int64_t position, bool is_long, float* cos, float* sin) const {
  const std::vector<double>& frequencies = is_long ? long_inverse_frequencies() : inverse_frequencies_;
  for (int pair = 0; pair < config_.num_pairs; ++pair) {
    const double angle = static_cast<double>(position) * frequencies[static_cast<size_t>(pair)];
    cos[pair] = static_cast<float>(std::cos(angle) * attention_factor_);
    sin[pair] = static_cast<float>(std::sin(angle) * attention_factor_);
  }
}

}  // namespace adit::nn
