#include "sched/arrival_feed.h"

#include <utility>

#include "base/check.h"
#include "sched/sequence.h"

namespace adit::sched {

ArrivalFeed::ArrivalFeed(const Workload& workload)
    : workload_(workload),
      first_follower_(static_cast<size_t>(workload.num_requests()), -1),
      next_follower_(static_cast<size_t>(workload.num_requests()), -1) {
  std::vector<Arrival> first_turns;
  // Backwards, so that followers end up in rising order.
  for (int64_t index = workload.num_requests() - 1; index >= 0; --index) {
    const WorkloadRequest& request = workload.request(index);
    if (request.follows < 0) {
      first_turns.emplace_back(request.arrival_s, index);
      continue;
    }
    int64_t& first = first_follower_[static_cast<size_t>(request.follows)];
    next_follower_[static_cast<size_t>(index)] = first;
    first = index;
  }
  arrivals_ = decltype(arrivals_)(std::greater<>(), std::move(first_turns));
}

double ArrivalFeed::NextArrival() const { return arrivals_.empty() ? kNever : arrivals_.top().first; }

int64_t ArrivalFeed::Take() {
  ADIT_CHECK(!arrivals_.empty());
  const int64_t index = arrivals_.top().second;
  arrivals_.pop();
  return index;
}

std::vector<int32_t> ArrivalFeed::TakePrompt(int64_t index) {
  std::vector<int32_t> tokens;
  if (const auto history = histories_.find(index); history != histories_.end()) {
    tokens = std::move(history->second);
    histories_.erase(history);
  }
  tokens.reserve(tokens.size() + static_cast<size_t>(workload_.request(index).num_new_tokens()));
  workload_.AppendNewTokens(index, tokens);
  return tokens;
}

void ArrivalFeed::Complete(int64_t index, std::span<const int32_t> tokens, double now_s) {
  for (int64_t next = first_follower_[static_cast<size_t>(index)]; next >= 0;
       next = next_follower_[static_cast<size_t>(next)]) {
    arrivals_.emplace(now_s + workload_.request(next).think_s, next);
    histories_[next].assign(tokens.begin(), tokens.end());
  }
}

std::vector<int64_t> ArrivalFeed::FollowersOf(int64_t index) const {
  std::vector<int64_t> followers;
  for (int64_t next = first_follower_[static_cast<size_t>(index)]; next >= 0;
       next = next_follower_[static_cast<size_t>(next)]) {
    followers.push_back(next);
  }
  return followers;
}

std::vector<int64_t> ArrivalFeed::Drop(int64_t index) {
  std::vector<int64_t> dropped = FollowersOf(index);
  for (size_t i = 0; i < dropped.size(); ++i) {
    const std::vector<int64_t> more = FollowersOf(dropped[i]);
    dropped.insert(dropped.end(), more.begin(), more.end());
  }
  return dropped;
}

}  // namespace adit::sched
