#ifndef ADIT_SCHED_FAIR_SHARE_H_
#define ADIT_SCHED_FAIR_SHARE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sched/options.h"

namespace adit::sched {

// The virtual token counters of Sheng et al., "Fairness in Serving Large Language Models", OSDI 2024: one for each
// tenant, of the service it has had divided by its weight. Whoever has the least runs next. A tenant that comes back
// from idling is lifted to the least counter of those that wait, so that idling saves up nothing; a tenant alone gets
// everything.
//
// Service of a request is kPromptCost for each prompt token that was computed for it and kOutputCost for each token it
// was given; a prefix found in the cache is free, and so is what a preemption makes compute again.
//
// Invariant (theorem of the paper): the counters of two tenants that both have requests waiting differ by at most
// bound(), the most that can be charged to one of them from the moment when it was chosen before the other: what all
// sequences that run at once may come to, priced as output, or one prompt.
class FairShare {
 public:
  static constexpr double kPromptCost = 1.0;
  static constexpr double kOutputCost = 2.0;

  explicit FairShare(std::span<const Tenant> tenants);

  // A request of `tenant` begins or ends waiting (served, cancelled or refused).
  void BeginWaiting(int32_t tenant);
  void EndWaiting(int32_t tenant);

  // The sequences that run now come to at most this many tokens, prompts and answers together.
  void NoteRunning(int64_t num_tokens);
  void ChargePrompt(int32_t tenant, int64_t num_tokens);
  void ChargeOutput(int32_t tenant, int64_t num_tokens);

  double counter(int32_t tenant) const { return tenants_[static_cast<size_t>(tenant)].counter; }
  int64_t num_waiting(int32_t tenant) const { return tenants_[static_cast<size_t>(tenant)].num_waiting; }
  // The waiting tenant with the least counter, the first of equal ones; -1 when nobody waits.
  int32_t Next() const;

  // Largest difference between counters of tenants that wait; 0 with fewer than two.
  double gap() const;
  // Of what has run so far.
  double bound() const;
  // The largest gap there has been, and how often the invariant did not hold: never.
  double largest_gap() const { return largest_gap_; }
  int64_t num_violations() const { return num_violations_; }

 private:
  struct State {
    double weight = 1.0;
    double counter = 0.0;
    int64_t num_waiting = 0;
  };
  void Charge(int32_t tenant, double cost);
  void NoteGap();

  std::vector<State> tenants_;
  double least_weight_;
  int64_t most_running_tokens_ = 0;
  double largest_gap_ = 0.0;
  int64_t num_violations_ = 0;
  int32_t last_to_leave_ = -1;  // the tenant whose request was the last to end waiting
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_FAIR_SHARE_H_
