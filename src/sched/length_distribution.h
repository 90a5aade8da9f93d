#ifndef ADIT_SCHED_LENGTH_DISTRIBUTION_H_
#define ADIT_SCHED_LENGTH_DISTRIBUTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::sched {

// How many tokens prompts or answers have.
class LengthDistribution {
 public:
  // Limits of every length, in tokens.
  static constexpr int64_t kMinTokens = 1;
  static constexpr int64_t kMaxTokens = int64_t{1} << 20;

  // Always `num_tokens`.
  static LengthDistribution Fixed(int64_t num_tokens);

  // "128" or "fixed:128"; "uniform:LOW:HIGH", both ends included; "lognormal:MEDIAN:SIGMA" or
  // "lognormal:MEDIAN:SIGMA:LOW:HIGH": e^x for a normal x of mean ln(MEDIAN) and deviation SIGMA in 0..4, to the
  // nearest whole number, and what lies outside LOW..HIGH (without them 1..2^20) moved to the nearer end.
  // InvalidArgument that names the text and what is wrong with it.
  static Result<LengthDistribution> Parse(std::string_view text);

  // In low()..high(); a function of its arguments.
  int64_t Draw(uint64_t seed, uint64_t position, uint32_t stream) const;

  int64_t low() const { return low_; }
  int64_t high() const { return high_; }
  // In words that Parse takes.
  std::string ToString() const;

 private:
  enum class Kind : uint8_t { kFixed, kUniform, kLogNormal };
  LengthDistribution(Kind kind, int64_t low, int64_t high, double median = 0.0, double sigma = 0.0)
      : kind_(kind), low_(low), high_(high), median_(median), sigma_(sigma) {}

  Kind kind_;
  int64_t low_;
  int64_t high_;
  double median_;
  double sigma_;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_LENGTH_DISTRIBUTION_H_
