#include "sched/waiting_queue.h"

#include <utility>

#include "base/check.h"

namespace adit::sched {

WaitingQueue::WaitingQueue(Policy policy, size_t num_tenants, FairShare& fair, CachedTokens cached_tokens)
    : policy_(policy),
      fair_(fair),
      cached_tokens_(std::move(cached_tokens)),
      lanes_(policy == Policy::kFair ? num_tenants : 1) {}

WaitingQueue::Lane& WaitingQueue::LaneOf(const Sequence& sequence) {
  return policy_ == Policy::kFair ? lanes_[static_cast<size_t>(sequence.spec.tenant)] : lanes_.front();
}

void WaitingQueue::Push(Sequence& sequence) {
  const bool is_new = LaneOf(sequence).insert(&sequence).second;
  ADIT_CHECK(is_new);
  sequence.times_passed_over = 0;
  fair_.BeginWaiting(sequence.spec.tenant);
  ++size_;
  num_tokens_ += sequence.num_tokens();
  predicted_work_s_ += sequence.predicted_work_s;
}

void WaitingQueue::Take(Sequence& sequence) {
  if (policy_ == Policy::kLpm) {
    for (Sequence* other : lanes_.front()) {
      if (other == &sequence) break;
      ++other->times_passed_over;
    }
  }
  Erase(sequence);
}

void WaitingQueue::Erase(Sequence& sequence) {
  const size_t erased = LaneOf(sequence).erase(&sequence);
  ADIT_CHECK(erased == 1);
  fair_.EndWaiting(sequence.spec.tenant);
  --size_;
  num_tokens_ -= sequence.num_tokens();
  // A sum that rises and falls gathers rounding; none outlives a queue that was empty once.
  predicted_work_s_ = size_ == 0 ? 0.0 : predicted_work_s_ - sequence.predicted_work_s;
}

Sequence* WaitingQueue::Front() {
  if (size_ == 0) return nullptr;
  if (policy_ == Policy::kFair) return *lanes_[static_cast<size_t>(fair_.Next())].begin();
  if (policy_ == Policy::kLpm) return LongestCached(lanes_.front());
  return *lanes_.front().begin();
}

Sequence* WaitingQueue::LongestCached(Lane& lane) {
  Sequence* best = nullptr;
  int64_t most = -1;
  int looked_at = 0;
  for (Sequence* sequence : lane) {
    if (looked_at++ == kLpmWindow) break;
    if (sequence->times_passed_over >= kLpmPatience) return sequence;
    const int64_t cached = cached_tokens_(*sequence);
    if (cached <= most) continue;
    most = cached;
    best = sequence;
  }
  return best;
}

}  // namespace adit::sched
