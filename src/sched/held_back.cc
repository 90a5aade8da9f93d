#include "sched/held_back.h"

#include "base/check.h"

namespace adit::sched {

void HeldBack::Push(Sequence& sequence) {
  const bool is_new = LaneOf(sequence).insert(&sequence).second;
  ADIT_CHECK(is_new);
  sequence.held_back = true;
  ++size_;
  num_tokens_ += sequence.num_tokens();
  predicted_work_s_ += sequence.predicted_work_s;
}

void HeldBack::Erase(Sequence& sequence) {
  const size_t erased = LaneOf(sequence).erase(&sequence);
  ADIT_CHECK(erased == 1);
  sequence.held_back = false;
  --size_;
  num_tokens_ -= sequence.num_tokens();
  predicted_work_s_ = size_ == 0 ? 0.0 : predicted_work_s_ - sequence.predicted_work_s;
}

Sequence* HeldBack::Front(int32_t tenant) const {
  const auto& lane = lanes_[static_cast<size_t>(tenant)];
  return lane.empty() ? nullptr : *lane.begin();
}

}  // namespace adit::sched
