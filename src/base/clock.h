#ifndef ADIT_BASE_CLOCK_H_
#define ADIT_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace adit {

// Seconds of the steady clock, from some moment in the past that is the same for the whole process.
inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds since 1970-01-01 00:00 UTC (POSIX time).
inline double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
inline int64_t WholeUnixSeconds() { return static_cast<int64_t>(UnixSeconds()); }

// Adds the time that it lives to a sum of seconds, which outlives it.
class SecondsAdder {
 public:
  explicit SecondsAdder(double& sum) : sum_(sum), start_(SteadySeconds()) {}
  ~SecondsAdder() { sum_ += SteadySeconds() - start_; }
  SecondsAdder(const SecondsAdder&) = delete;
  SecondsAdder& operator=(const SecondsAdder&) = delete;

 private:
  double& sum_;
  const double start_;
};

}  // namespace adit

#endif  // ADIT_BASE_CLOCK_H_
