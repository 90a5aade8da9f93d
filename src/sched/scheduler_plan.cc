// Scheduler::Plan and what it is made of.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "sched/scheduler.h"

namespace adit::sched {
namespace {

// However tight the target of the interval between tokens, a prompt advances by this much a step.
constexpr int64_t kLeastChunk = 4;

}  // namespace

const StepPlan& Scheduler::Plan(double now_s) {
  tree_.AdvanceTo(now_s);
  plan_.copies.clear();
  plan_.rows.clear();
  plan_.hopeless.clear();
  plan_.load = {};
  plan_.num_preempted = 0;
  RestartOutgrown();
  if (running_.empty()) {
    EndIdle();
    batch_open_ = true;
  }
  PreemptWithinTenants();
  PlanDecodes();
  PlanPrefills();
  PlanAdmissions(now_s);
  PlanIdle();
  if (waiting_.size() == 0 || seats_taken_ >= options_.max_num_seqs) batch_open_ = running_.empty();
  return plan_;
}

// Sequences that have grown past short_length give way and begin anew, as long ones.
void Scheduler::RestartOutgrown() {
  if (options_.short_length == 0) return;
  order_ = running_;
  for (Sequence* sequence : order_) {
    if (sequence->phase == Phase::kRunning && sequence->is_long != IsLong(*sequence)) Preempt(*sequence);
  }
}

void Scheduler::PlanDecodes() {
  order_ = running_;
  for (Sequence* sequence : order_) {
    if (sequence->phase != Phase::kRunning || sequence->paused || !sequence->decoding()) continue;
    if (RunnableTokens(*sequence) == 1) PlanRows(*sequence, 1);
  }
}

void Scheduler::PlanPrefills() {
  order_.clear();
  for (Sequence* sequence : running_) {
    if (!sequence->decoding() && !sequence->paused && RunnableTokens(*sequence) > 0) order_.push_back(sequence);
  }
  std::sort(order_.begin(), order_.end(), RanksBefore);
  for (Sequence* sequence : order_) {
    if (sequence->phase == Phase::kRunning) PlanChunk(*sequence);
  }
}

// Tokens of a running sequence that may run now. The members of a gang keep their last known token back until all are
// there.
int64_t Scheduler::RunnableTokens(const Sequence& sequence) const {
  const int64_t pending = sequence.num_pending();
  if (sequence.gang == nullptr || sequence.gang->members.size() == 1) return pending;
  if (pending > 1) return pending - 1;
  const auto& members = sequence.gang->members;
  const bool ready = std::all_of(members.begin(), members.end(), [](const Sequence* member) {
    return member->phase == Phase::kRunning && member->num_pending() == 1 && !member->paused;
  });
  return ready ? pending : 0;
}

// Rows of prompts that this step still takes.
int64_t Scheduler::PrefillRoom() const {
  int64_t room = options_.max_batch_tokens - plan_.num_tokens();
  if (!options_.chunked_prefill || plan_.load.decodes == 0) return room;
  double target = options_.itl_target_s > 0.0 ? options_.itl_target_s : kNever;
  for (const PlannedRows& rows : plan_.rows) target = std::min(target, rows.sequence->spec.token_interval_s);
  if (target == kNever) return room;
  const double within = step_time_.PrefillTokensWithin(plan_.load, target);
  const auto most = static_cast<int64_t>(std::clamp(within, 0.0, static_cast<double>(options_.max_batch_tokens)));
  return std::min(room, std::max(most, kLeastChunk) - plan_.load.prefill_tokens);
}

// As much of the sequence's prompt as the step takes.
void Scheduler::PlanChunk(Sequence& sequence) {
  const int64_t tokens = std::min(RunnableTokens(sequence), sequence.spec.most_step_tokens);
  const int64_t room = PrefillRoom();
  if (options_.chunked_prefill) {
    if (room > 0) PlanRows(sequence, std::min(tokens, room));
  } else if (tokens <= room || plan_.load.prefill_tokens == 0) {
    PlanRows(sequence, tokens);
  }
}

// Nothing when the sequence itself had to give way.
void Scheduler::PlanRows(Sequence& sequence, int64_t num_tokens) {
  if (!Grow(sequence, sequence.num_computed + num_tokens)) return;
  const bool decodes = sequence.decoding();
  plan_.rows.push_back({.sequence = &sequence,
                        .first_position = sequence.num_computed,
                        .num_tokens = num_tokens,
                        .wants_logits = num_tokens == sequence.num_pending()});
  (decodes ? plan_.load.decodes : plan_.load.prefill_tokens) += num_tokens;
  plan_.load.context_tokens += sequence.num_computed + num_tokens;
}

// Gives the sequence pages of its own for tokens up to num_tokens, if need be taking those of cached prefixes and then
// of others that run.
bool Scheduler::Grow(Sequence& sequence, int64_t num_tokens) {
  while (!FreePages(sequence.pages.PagesToReserve(num_tokens) +
                    sequence.pages.PagesToMakeWritable(sequence.num_computed))) {
    Preempt(*Victim());
    if (sequence.phase != Phase::kRunning) return false;
  }
  const bool grown =
      sequence.pages.MakeWritable(sequence.num_computed, plan_.copies) && sequence.pages.Reserve(num_tokens);
  ADIT_CHECK(grown);
  return true;
}

bool Scheduler::FreePages(int64_t num_pages) {
  while (pool_.num_free() < num_pages && !idle_.empty()) DropIdle();
  const int64_t missing = num_pages - pool_.num_free();
  if (missing > 0) tree_.Evict(missing);
  return pool_.num_free() >= num_pages;
}

// What has ended in a static batch computes its last token again, which costs what a decode costs but for the logits.
void Scheduler::PlanIdle() {
  if (plan_.rows.empty()) return;
  for (size_t i = 0; i < idle_.size() && plan_.num_tokens() < options_.max_batch_tokens; ++i) {
    Sequence& sequence = *idle_[i];
    const int64_t position = sequence.num_computed;
    const int64_t pages = sequence.pages.PagesToReserve(position + 1) + sequence.pages.PagesToMakeWritable(position);
    if (pool_.num_free() < pages) continue;
    const bool grown = sequence.pages.MakeWritable(position, plan_.copies) && sequence.pages.Reserve(position + 1);
    ADIT_CHECK(grown);
    plan_.rows.push_back({.sequence = &sequence, .first_position = position, .num_tokens = 1});
    ++plan_.load.decodes;
    plan_.load.context_tokens += position + 1;
  }
}

int64_t Scheduler::AvailablePages() const { return pool_.num_free() + tree_.num_evictable(); }

// Pages that a sequence will still want before it has run all its known tokens.
int64_t Scheduler::OutstandingPages(const Sequence& sequence) const {
  const int64_t step = options_.chunked_prefill ? options_.max_batch_tokens : sequence.num_tokens();
  return std::max<int64_t>(0, options_.groups.MostPages(sequence.num_tokens(), step) - sequence.pages.num_pages());
}

void Scheduler::PlanAdmissions(double now_s) {
  ReleaseHeldBack();
  while (Sequence* front = waiting_.Front()) {
    if (IsHopeless(*front, now_s)) {
      LeaveQueue(*front);
      plan_.hopeless.push_back(front);
      continue;
    }
    if (HoldBack(*front)) continue;
    if (options_.batching == Batching::kStatic && !batch_open_) return;
    if (options_.chunked_prefill ? PrefillRoom() <= 0 : plan_.num_tokens() >= options_.max_batch_tokens) return;
    if (!options_.chunked_prefill && plan_.load.prefill_tokens > 0 && front->num_tokens() > PrefillRoom()) return;
    if (Admit(*front, now_s)) continue;
    if (!MakeRoomByPolicy(*front)) return;
  }
}

bool Scheduler::IsHopeless(const Sequence& sequence, double now_s) const {
  if (options_.policy != Policy::kDeadline || sequence.num_output() > 0) return false;
  return now_s + static_cast<double>(sequence.num_tokens()) * step_time_.SecondsPerPrefillToken() >
         sequence.spec.first_token_by_s;
}

// Lets the sequence begin, with all its gang, if there are seats, and pages for all its known tokens beside what the
// running prompts still want and a page more for each running sequence.
bool Scheduler::Admit(Sequence& front, double now_s) {
  members_.clear();
  if (front.gang == nullptr) {
    members_.push_back(&front);
  } else {
    members_ = front.gang->members;
  }
  int64_t seats = 0;
  for (const Sequence* member : members_) seats += member->seats;
  if (seats_taken_ + seats > options_.max_num_seqs) return false;

  auto wanted = static_cast<int64_t>(running_.size() * options_.groups.windows.size());
  for (const Sequence* sequence : running_) {
    if (!sequence->decoding()) wanted += OutstandingPages(*sequence);
  }
  const int64_t spare_pages = AvailablePages() - wanted;
  if (blocked_ == &front && spare_pages <= blocked_pages_ && !running_.empty()) return false;
  const size_t num_copies = plan_.copies.size();
  for (Sequence* member : members_) {
    Adopt(*member);
    wanted += OutstandingPages(*member);
  }
  if (wanted > AvailablePages() && !running_.empty()) {
    for (Sequence* member : members_) {
      member->pages.Truncate(0);
      member->num_computed = 0;
    }
    plan_.copies.resize(num_copies);
    blocked_ = &front;
    blocked_pages_ = spare_pages;
    return false;
  }
  for (Sequence* member : members_) Start(*member, now_s);
  // Planning one may make another give way.
  order_ = members_;
  for (Sequence* member : order_) {
    if (member->phase == Phase::kRunning && RunnableTokens(*member) > 0) PlanChunk(*member);
  }
  return true;
}

// Begins a sequence with what the prefix cache has of it; its last token always runs, for the logits.
void Scheduler::Adopt(Sequence& sequence) {
  const int64_t most_tokens = sequence.num_prompt + sequence.spec.max_tokens;
  sequence.pages = kv::SequencePages(pool_, options_.groups, most_tokens);
  sequence.tokens.reserve(static_cast<size_t>(most_tokens));
  sequence.is_long = IsLong(sequence);
  if (!options_.prefix_cache || !sequence.spec.use_prefix_cache) return;
  const uint64_t salt = TreeSalt(sequence, sequence.is_long);
  kv::PrefixMatch match = tree_.Match(sequence.tokens, sequence.num_tokens() - 1, salt);
  if (sequence.first_step_s == kNever) {
    sequence.miss_reason = match.reason;
    sequence.miss_position = match.miss_position;
  }
  if (match.partial_tokens > 0) FreePages(static_cast<int64_t>(options_.groups.windows.size()));
  sequence.num_computed = sequence.pages.Adopt(std::move(match), plan_.copies);
}

void Scheduler::Start(Sequence& sequence, double now_s) {
  const bool first = sequence.num_preemptions == 0;
  if (sequence.held_back) {
    // Another of its gang was let go before it.
    LeaveQueue(sequence);
  } else {
    sequence.queued = false;
    waiting_.Take(sequence);
  }
  sequence.phase = Phase::kRunning;
  running_.push_back(&sequence);
  seats_taken_ += sequence.seats;
  committed_tokens_ += sequence.most_tokens();
  fair_.NoteRunning(committed_tokens_);
  if (first) {
    sequence.cached_tokens = sequence.num_computed;
    sequence.first_step_s = now_s;
    fair_.ChargePrompt(sequence.spec.tenant, sequence.num_prompt - sequence.cached_tokens);
  } else {
    counters_.recomputed_tokens += sequence.num_pending() - 1;
  }
}

// Under Policy::kPriority a request makes one of lower priority give way.
bool Scheduler::MakeRoomByPolicy(const Sequence& front) {
  if (options_.policy != Policy::kPriority || running_.empty()) return false;
  Sequence* victim = Victim();
  if (!victim->paused && victim->rank <= front.rank) return false;
  Preempt(*victim);
  return true;
}

// Who gives way first: the one whose reader is slow, then by policy, then the last to come.
bool Scheduler::GivesWayBefore(const Sequence& a, const Sequence& b) const {
  if (a.paused != b.paused) return a.paused;
  if (options_.policy == Policy::kFair) {
    const double a_had = fair_.counter(a.spec.tenant);
    const double b_had = fair_.counter(b.spec.tenant);
    if (a_had != b_had) return a_had > b_had;
  }
  return RanksBefore(&b, &a);
}

Sequence* Scheduler::Victim() const {
  ADIT_CHECK(!running_.empty());
  return *std::min_element(running_.begin(), running_.end(),
                           [this](const Sequence* a, const Sequence* b) { return GivesWayBefore(*a, *b); });
}

void Scheduler::Preempt(Sequence& victim) {
  if (victim.gang == nullptr) {
    PreemptOne(victim);
    return;
  }
  for (Sequence* member : victim.gang->members) {
    if (member->phase == Phase::kRunning) PreemptOne(*member);
  }
}

// Its pages go, as far as they are whole into the prefix cache, where it may find them again.
void Scheduler::PreemptOne(Sequence& victim) {
  DropRows(victim);
  StoreInTree(victim);
  LeaveRunning(victim);
  victim.num_computed = 0;
  ++victim.num_preemptions;
  ++counters_.preemptions;
  ++plan_.num_preempted;
  victim.phase = Phase::kWaiting;
  if (!victim.paused) Enqueue(victim);
}

void Scheduler::DropRows(const Sequence& sequence) {
  const auto rows = std::find_if(plan_.rows.begin(), plan_.rows.end(),
                                 [&](const PlannedRows& planned) { return planned.sequence == &sequence; });
  if (rows == plan_.rows.end()) return;
  (sequence.decoding() ? plan_.load.decodes : plan_.load.prefill_tokens) -= rows->num_tokens;
  plan_.load.context_tokens -= rows->first_position + rows->num_tokens;
  plan_.rows.erase(rows);
}

}  // namespace adit::sched
