#ifndef ADIT_SCHED_ARRIVAL_FEED_H_
#define ADIT_SCHED_ARRIVAL_FEED_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sched/workload.h"

namespace adit::sched {

// The requests of a workload in the order in which they arrive. One that follows another arrives some time after that
// one's answer, whose real tokens are part of its prompt; when the other fails it never comes. Whoever drives a load,
// simulated or real, takes requests from here and tells how they ended. The workload outlives the feed.
class ArrivalFeed {
 public:
  explicit ArrivalFeed(const Workload& workload);

  // When the next request arrives, of those that are due to come by what has ended so far; kNever: none.
  double NextArrival() const;
  // That request. Precondition: there is one.
  int64_t Take();
  // Its prompt. Once for each request, after it was taken.
  std::vector<int32_t> TakePrompt(int64_t index);

  // Request `index` has ended at `now_s` with these tokens, prompt and answer: those that follow it will come.
  void Complete(int64_t index, std::span<const int32_t> tokens, double now_s);
  // Request `index` has not completed: returns all that would have come after it.
  std::vector<int64_t> Drop(int64_t index);
  bool HasFollowers(int64_t index) const { return first_follower_[static_cast<size_t>(index)] >= 0; }
  // Those that come right after it.
  std::vector<int64_t> FollowersOf(int64_t index) const;

 private:
  using Arrival = std::pair<double, int64_t>;

  const Workload& workload_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::vector<int64_t> first_follower_;                          // [num_requests], -1: none
  std::vector<int64_t> next_follower_;                           // [num_requests], of the same request
  std::unordered_map<int64_t, std::vector<int32_t>> histories_;  // what requests that will come take over
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_ARRIVAL_FEED_H_
