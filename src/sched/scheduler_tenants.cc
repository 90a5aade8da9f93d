// How Scheduler keeps tenants within what they may hold of the cache.
#include <algorithm>

#include "sched/scheduler.h"

namespace adit::sched {

// Known tokens of a tenant's running sequences.
int64_t Scheduler::TokensOfTenant(int32_t tenant) const {
  int64_t tokens = 0;
  for (const Sequence* sequence : running_) {
    if (sequence->spec.tenant == tenant) tokens += sequence->num_tokens();
  }
  return tokens;
}

// Whether `sequence`, with all its gang, may run beside what its tenant runs and `more_tokens` that are to begin before
// it, with a page for each to grow by. What is alone may always run: Submit has seen that it fits.
bool Scheduler::FitsTenant(const Sequence& sequence, int64_t more_tokens) const {
  const int64_t limit = sequence.spec.tenant_tokens;
  if (limit == 0) return true;
  int64_t tokens = more_tokens + sequence.num_tokens();
  int64_t num_sequences = 1;
  if (sequence.gang != nullptr) {
    num_sequences = static_cast<int64_t>(sequence.gang->members.size());
    tokens = more_tokens;
    for (const Sequence* member : sequence.gang->members) tokens += member->num_tokens();
  }
  bool alone = more_tokens == 0;
  for (const Sequence* running : running_) {
    if (running->spec.tenant != sequence.spec.tenant) continue;
    alone = false;
    tokens += running->num_tokens();
    ++num_sequences;
  }
  return alone || tokens + num_sequences * options_.groups.block_size <= limit;
}

// Answers have grown: those of a tenant that holds too much give way to one another, until one of its requests is left.
void Scheduler::PreemptWithinTenants() {
  if (!any_tenant_limit_) return;
  order_ = running_;
  for (Sequence* sequence : order_) {
    const int64_t limit = sequence->spec.tenant_tokens;
    while (limit > 0 && sequence->phase == Phase::kRunning && TokensOfTenant(sequence->spec.tenant) > limit) {
      Sequence* victim = nullptr;
      bool is_one_request = true;
      for (Sequence* other : running_) {
        if (other->spec.tenant != sequence->spec.tenant) continue;
        const bool same = other == sequence || (other->gang != nullptr && other->gang == sequence->gang);
        is_one_request &= same;
        if (victim == nullptr || GivesWayBefore(*other, *victim)) victim = other;
      }
      if (is_one_request) break;
      Preempt(*victim);
    }
  }
}

// Those whose tenant holds less by now wait for the machine again.
void Scheduler::ReleaseHeldBack() {
  if (held_back_.size() == 0) return;
  for (int32_t tenant = 0; tenant < held_back_.num_tenants(); ++tenant) {
    int64_t released_tokens = 0;
    Sequence* front = held_back_.Front(tenant);
    while (front != nullptr && FitsTenant(*front, released_tokens)) {
      released_tokens += front->num_tokens();
      held_back_.Erase(*front);
      waiting_.Push(*front);
      front = held_back_.Front(tenant);
    }
  }
}

// Takes the front out of the queue where its tenant holds too much, or has others held back that go before it.
bool Scheduler::HoldBack(Sequence& front) {
  if (front.spec.tenant_tokens == 0) return false;
  const Sequence* first = held_back_.Front(front.spec.tenant);
  if ((first == nullptr || RanksBefore(&front, first)) && FitsTenant(front, 0)) return false;
  waiting_.Erase(front);
  held_back_.Push(front);
  return true;
}

}  // namespace adit::sched
