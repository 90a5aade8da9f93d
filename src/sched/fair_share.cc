#include "sched/fair_share.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace adit::sched {

FairShare::FairShare(std::span<const Tenant> tenants) : least_weight_(std::numeric_limits<double>::infinity()) {
  for (const Tenant& tenant : tenants) {
    tenants_.push_back({.weight = tenant.weight});
    least_weight_ = std::min(least_weight_, tenant.weight);
  }
}

void FairShare::NoteRunning(int64_t num_tokens) { most_running_tokens_ = std::max(most_running_tokens_, num_tokens); }

double FairShare::bound() const {
  // A prompt runs among the sequences, and its tokens cost less than output: so it is covered too.
  static_assert(kPromptCost <= kOutputCost);
  return kOutputCost * static_cast<double>(most_running_tokens_) / least_weight_;
}

void FairShare::BeginWaiting(int32_t tenant) {
  State& state = tenants_[static_cast<size_t>(tenant)];
  if (state.num_waiting++ > 0) return;
  double least = std::numeric_limits<double>::infinity();
  for (const State& other : tenants_) {
    if (other.num_waiting > 0 && &other != &state) least = std::min(least, other.counter);
  }
  if (least == std::numeric_limits<double>::infinity()) {
    if (last_to_leave_ < 0) return;
    least = tenants_[static_cast<size_t>(last_to_leave_)].counter;
  }
  state.counter = std::max(state.counter, least);
}

void FairShare::EndWaiting(int32_t tenant) {
  State& state = tenants_[static_cast<size_t>(tenant)];
  ADIT_CHECK(state.num_waiting > 0);
  --state.num_waiting;
  last_to_leave_ = tenant;
}

void FairShare::ChargePrompt(int32_t tenant, int64_t num_tokens) {
  Charge(tenant, kPromptCost * static_cast<double>(num_tokens));
}

void FairShare::ChargeOutput(int32_t tenant, int64_t num_tokens) {
  Charge(tenant, kOutputCost * static_cast<double>(num_tokens));
}

void FairShare::Charge(int32_t tenant, double cost) {
  State& state = tenants_[static_cast<size_t>(tenant)];
  state.counter += cost / state.weight;
  NoteGap();
}

int32_t FairShare::Next() const {
  int32_t next = -1;
  for (size_t i = 0; i < tenants_.size(); ++i) {
    if (tenants_[i].num_waiting == 0) continue;
    if (next < 0 || tenants_[i].counter < tenants_[static_cast<size_t>(next)].counter) next = static_cast<int32_t>(i);
  }
  return next;
}

double FairShare::gap() const {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const State& state : tenants_) {
    if (state.num_waiting == 0) continue;
    least = std::min(least, state.counter);
    most = std::max(most, state.counter);
  }
  return std::max(0.0, most - least);
}

void FairShare::NoteGap() {
  const double now = gap();
  largest_gap_ = std::max(largest_gap_, now);
  if (now > bound() * (1.0 + 1e-9)) ++num_violations_;
}

}  // namespace adit::sched
