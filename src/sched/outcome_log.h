#ifndef ADIT_SCHED_OUTCOME_LOG_H_
#define ADIT_SCHED_OUTCOME_LOG_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sched/load_summary.h"
#include "sched/workload.h"

namespace adit::sched {

// Writes down what becomes of each request of a workload. Times are seconds since the start.
class OutcomeLog {
 public:
  explicit OutcomeLog(const Workload& workload);

  void Arrive(int64_t index, double arrival_s, int64_t prompt_tokens);
  void Token(int64_t index, double now_s);
  void End(int64_t index, Ending ending, double now_s);

  RequestOutcome& operator[](int64_t index) { return outcomes_[static_cast<size_t>(index)]; }
  const std::vector<RequestOutcome>& outcomes() const { return outcomes_; }
  std::vector<RequestOutcome> TakeOutcomes() { return std::move(outcomes_); }
  // Requests that have ended; those that are skipped end too.
  int64_t num_ended() const { return num_ended_; }

 private:
  std::vector<RequestOutcome> outcomes_;  // [num_requests]
  std::vector<double> last_token_s_;      // [num_requests]
  int64_t num_ended_ = 0;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_OUTCOME_LOG_H_
