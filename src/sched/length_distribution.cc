#include "sched/length_distribution.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/rng.h"
#include "sched/flag_text.h"
#include "sched/random_variate.h"

namespace adit::sched {
namespace {

constexpr double kMaxSigma = 4.0;
constexpr size_t kMaxShownBytes = 60;

Status WrongLength(std::string_view text, std::string_view why) {
  return InvalidArgument("length '{}': {}", text.substr(0, kMaxShownBytes), why);
}

Result<int64_t> ReadTokens(std::string_view text, std::string_view part) {
  const std::optional<double> value = ReadNumber(part);
  if (!value || *value != std::floor(*value) || *value < LengthDistribution::kMinTokens ||
      *value > LengthDistribution::kMaxTokens) {
    return WrongLength(text, fmt::format("'{}' is not a whole number of {}..{}", part.substr(0, kMaxShownBytes),
                                         LengthDistribution::kMinTokens, LengthDistribution::kMaxTokens));
  }
  return static_cast<int64_t>(*value);
}

struct Range {
  int64_t low;
  int64_t high;
};
Result<Range> ReadRange(std::string_view text, std::string_view low_part, std::string_view high_part) {
  ADIT_ASSIGN_OR_RETURN(const int64_t low, ReadTokens(text, low_part));
  ADIT_ASSIGN_OR_RETURN(const int64_t high, ReadTokens(text, high_part));
  if (low > high) return WrongLength(text, fmt::format("{} is above {}", low, high));
  return Range{low, high};
}

}  // namespace

LengthDistribution LengthDistribution::Fixed(int64_t num_tokens) {
  ADIT_CHECK(num_tokens >= kMinTokens && num_tokens <= kMaxTokens);
  return {Kind::kFixed, num_tokens, num_tokens};
}

Result<LengthDistribution> LengthDistribution::Parse(std::string_view text) {
  std::vector<std::string_view> parts = SplitText(text, ':');
  if (parts.size() == 1) parts.insert(parts.begin(), "fixed");
  const std::string_view kind = parts.front();
  const std::span<const std::string_view> numbers = std::span(parts).subspan(1);
  if (kind == "fixed" && numbers.size() == 1) {
    ADIT_ASSIGN_OR_RETURN(const int64_t tokens, ReadTokens(text, numbers[0]));
    return Fixed(tokens);
  }
  if (kind == "uniform" && numbers.size() == 2) {
    ADIT_ASSIGN_OR_RETURN(const Range range, ReadRange(text, numbers[0], numbers[1]));
    return LengthDistribution(Kind::kUniform, range.low, range.high);
  }
  if (kind == "lognormal" && (numbers.size() == 2 || numbers.size() == 4)) {
    Range range{kMinTokens, kMaxTokens};
    if (numbers.size() == 4) {
      ADIT_ASSIGN_OR_RETURN(range, ReadRange(text, numbers[2], numbers[3]));
    }
    const std::optional<double> median = ReadNumber(numbers[0]);
    if (!median || *median < kMinTokens || *median > kMaxTokens) {
      return WrongLength(text, fmt::format("the median is a number of {}..{}", kMinTokens, kMaxTokens));
    }
    const std::optional<double> sigma = ReadNumber(numbers[1]);
    if (!sigma || *sigma < 0.0 || *sigma > kMaxSigma) {
      return WrongLength(text, fmt::format("sigma is a number of 0..{}", kMaxSigma));
    }
    return LengthDistribution(Kind::kLogNormal, range.low, range.high, *median, *sigma);
  }
  return WrongLength(text, "there are N, uniform:LOW:HIGH, lognormal:MEDIAN:SIGMA and lognormal:MEDIAN:SIGMA:LOW:HIGH");
}

int64_t LengthDistribution::Draw(uint64_t seed, uint64_t position, uint32_t stream) const {
  switch (kind_) {
    case Kind::kFixed:
      return low_;
    case Kind::kUniform: {
      const auto width = static_cast<double>(high_ - low_ + 1);
      return low_ + static_cast<int64_t>(RandomUniform(seed, position, stream) * width);
    }
    case Kind::kLogNormal: {
      const double length = median_ * std::exp(sigma_ * StandardNormal(seed, position, stream));
      return static_cast<int64_t>(
          std::clamp(std::round(length), static_cast<double>(low_), static_cast<double>(high_)));
    }
  }
  ADIT_CHECK(false);
  return low_;
}

std::string LengthDistribution::ToString() const {
  switch (kind_) {
    case Kind::kFixed:
      return fmt::format("{}", low_);
    case Kind::kUniform:
      return fmt::format("uniform:{}:{}", low_, high_);
    case Kind::kLogNormal:
      break;
  }
  std::string text = fmt::format("lognormal:{}:{}", median_, sigma_);
  if (low_ != kMinTokens || high_ != kMaxTokens) text += fmt::format(":{}:{}", low_, high_);
  return text;
}

}  // namespace adit::sched
