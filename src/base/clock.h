#ifndef ADIT_BASE_CLOCK_H_
#define ADIT_BASE_CLOCK_H_

#include <chrono>

namespace adit {

// Seconds of the steady clock, from some moment in the past that is the same for the whole process.
inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace adit

#endif  // ADIT_BASE_CLOCK_H_
