#ifndef ADIT_SCHED_WAITING_QUEUE_H_
#define ADIT_SCHED_WAITING_QUEUE_H_

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "sched/fair_share.h"
#include "sched/options.h"
#include "sched/sequence.h"

namespace adit::sched {

// The sequences that wait, and who of them is next: the lowest rank, the first to arrive among equals; under
// Policy::kFair within the tenant that FairShare names; under Policy::kLpm the one with the most tokens in the cache
// among the kLpmWindow first, but whoever has been passed over kLpmPatience times goes first. Logarithmic in the length
// of the queue.
class WaitingQueue {
 public:
  // Tokens of a sequence that the cache holds.
  using CachedTokens = std::function<int64_t(const Sequence&)>;
  static constexpr int kLpmWindow = 64;
  static constexpr int kLpmPatience = 128;

  // `fair` outlives the queue and is told who waits.
  WaitingQueue(Policy policy, size_t num_tenants, FairShare& fair, CachedTokens cached_tokens);

  // Its rank and its predicted work do not change while it waits.
  void Push(Sequence& sequence);
  // Null when nobody waits.
  Sequence* Front();
  // Takes out one whose turn has come, past all before it.
  void Take(Sequence& sequence);
  // Takes out one that waits no longer for another reason.
  void Erase(Sequence& sequence);

  int64_t size() const { return size_; }
  // Of all that wait: prompt tokens, and those to be computed again; and predicted work.
  int64_t num_tokens() const { return num_tokens_; }
  double predicted_work_s() const { return predicted_work_s_; }

 private:
  struct Before {
    bool operator()(const Sequence* a, const Sequence* b) const { return RanksBefore(a, b); }
  };
  using Lane = std::set<Sequence*, Before>;
  Lane& LaneOf(const Sequence& sequence);
  Sequence* LongestCached(Lane& lane);

  Policy policy_;
  FairShare& fair_;
  CachedTokens cached_tokens_;
  std::vector<Lane> lanes_;  // one for each tenant under kFair, else one
  int64_t size_ = 0;
  int64_t num_tokens_ = 0;
  double predicted_work_s_ = 0.0;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_WAITING_QUEUE_H_
