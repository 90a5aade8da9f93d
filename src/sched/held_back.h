#ifndef ADIT_SCHED_HELD_BACK_H_
#define ADIT_SCHED_HELD_BACK_H_

#include <cstdint>
#include <set>
#include <vector>

#include "sched/sequence.h"

namespace adit::sched {

// The sequences that wait, not for the machine, but for others of their tenant to end: it holds as much of the cache as
// it may. Those of a tenant stand in the order of the policy. Logarithmic in their number.
class HeldBack {
 public:
  explicit HeldBack(size_t num_tenants) : lanes_(num_tenants) {}

  // Its rank does not change while it is here.
  void Push(Sequence& sequence);
  void Erase(Sequence& sequence);
  // The first of a tenant's; null: there is none.
  Sequence* Front(int32_t tenant) const;

  int32_t num_tenants() const { return static_cast<int32_t>(lanes_.size()); }
  int64_t size() const { return size_; }
  int64_t num_tokens() const { return num_tokens_; }
  double predicted_work_s() const { return predicted_work_s_; }

 private:
  struct Before {
    bool operator()(const Sequence* a, const Sequence* b) const { return RanksBefore(a, b); }
  };
  std::set<Sequence*, Before>& LaneOf(const Sequence& sequence) {
    return lanes_[static_cast<size_t>(sequence.spec.tenant)];
  }

  std::vector<std::set<Sequence*, Before>> lanes_;  // of each tenant
  int64_t size_ = 0;
  int64_t num_tokens_ = 0;
  double predicted_work_s_ = 0.0;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_HELD_BACK_H_
