#include "sched/outcome_log.h"

namespace adit::sched {

OutcomeLog::OutcomeLog(const Workload& workload)
    : outcomes_(static_cast<size_t>(workload.num_requests())),
      last_token_s_(static_cast<size_t>(workload.num_requests()), 0.0) {
  for (int64_t i = 0; i < workload.num_requests(); ++i) (*this)[i].tenant = workload.request(i).tenant;
}

void OutcomeLog::Arrive(int64_t index, double arrival_s, int64_t prompt_tokens) {
  RequestOutcome& outcome = (*this)[index];
  outcome.arrival_s = arrival_s;
  outcome.prompt_tokens = prompt_tokens;
}

void OutcomeLog::Token(int64_t index, double now_s) {
  RequestOutcome& outcome = (*this)[index];
  double& last = last_token_s_[static_cast<size_t>(index)];
  if (outcome.output_tokens++ == 0) {
    outcome.first_token_s = now_s;
  } else {
    outcome.token_gaps.push_back(static_cast<float>(now_s - last));
  }
  last = now_s;
}

void OutcomeLog::End(int64_t index, Ending ending, double now_s) {
  RequestOutcome& outcome = (*this)[index];
  outcome.ending = ending;
  if (ending != Ending::kSkipped) outcome.finish_s = now_s;
  ++num_ended_;
}

}  // namespace adit::sched
