#include "sched/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace adit::sched {
namespace {

// Under Policy::kSjf a second of waiting makes up for so much predicted work: one that takes a second of the machine is
// passed over by shorter ones for at most 200 s. Queues are tens of seconds long where requests take tenths of one, so
// much more of it would bring back first come, first served.
constexpr double kSjfAging = 0.005;

// Of a step in the mean of how many decode at once.
constexpr double kMeanShare = 0.02;

// The longest sequence that fits num_pages by itself.
int64_t LongestFitting(const SchedulerOptions& options, int64_t num_pages) {
  int64_t fits = 0;
  int64_t too_long = options.max_context + 1;
  while (too_long - fits > 1) {
    const int64_t middle = fits + (too_long - fits) / 2;
    const int64_t step = options.chunked_prefill ? options.max_batch_tokens : middle;
    (options.groups.MostPages(middle, step) <= num_pages ? fits : too_long) = middle;
  }
  return fits;
}

}  // namespace

Result<std::unique_ptr<Scheduler>> Scheduler::Create(SchedulerOptions options, kv::BlockPool& pool) {
  ADIT_RETURN_IF_ERROR(Validate(options));
  const int64_t longest = LongestFitting(options, pool.num_blocks());
  if (longest < 2) {
    return ResourceExhausted(
        "scheduler: a cache of {} pages of {} tokens in {} groups of layers has no room for a "
        "sequence of two tokens",
        pool.num_blocks(), options.groups.block_size, options.groups.windows.size());
  }
  options.max_context = longest;
  if (options.tenants.empty()) options.tenants.emplace_back();
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(options), pool));
}

Scheduler::Scheduler(SchedulerOptions options, kv::BlockPool& pool)
    : options_(std::move(options)),
      pool_(pool),
      tree_(pool, {.block_size = options_.groups.block_size, .windows = options_.groups.windows}),
      fair_(options_.tenants),
      waiting_(options_.policy, options_.tenants.size(), fair_,
               [this](const Sequence& sequence) {
                 return tree_.MatchLength(sequence.tokens, sequence.num_tokens() - 1,
                                          TreeSalt(sequence, IsLong(sequence)));
               }),
      held_back_(options_.tenants.size()) {
  const auto most = static_cast<size_t>(options_.max_num_seqs);
  running_.reserve(most);
  if (options_.batching == Batching::kStatic) idle_.reserve(most);
  order_.reserve(most);
  members_.reserve(most);
  plan_.rows.reserve(most);
  plan_.copies.reserve(most);
}

Scheduler::~Scheduler() = default;

Status Scheduler::CheckFits(const RequestSpec& spec) const {
  const auto num_prompt = static_cast<int64_t>(spec.prompt.size());
  if (spec.prompt.empty()) return InvalidArgument("the prompt is empty");
  if (spec.max_tokens < 0) return InvalidArgument("max_tokens is {}; it is at least 0", spec.max_tokens);
  if (spec.tenant < 0 || static_cast<size_t>(spec.tenant) >= options_.tenants.size()) {
    return InvalidArgument("tenant {} is not in 0..{}", spec.tenant, options_.tenants.size() - 1);
  }
  if (spec.num_sequences < 1 || spec.num_sequences > options_.max_num_seqs) {
    return InvalidArgument("{} sequences for one request; at most {} run at once here", spec.num_sequences,
                           options_.max_num_seqs);
  }
  if (num_prompt + spec.max_tokens > options_.max_context || num_prompt >= options_.max_context) {
    return InvalidArgument(
        "this model's maximum context length is {} tokens here; {} were requested ({} in the prompt, {} in the answer)",
        options_.max_context, num_prompt + spec.max_tokens, num_prompt, spec.max_tokens);
  }
  if (spec.tenant_tokens > 0 && num_prompt + spec.max_tokens > spec.tenant_tokens) {
    return InvalidArgument(
        "the tenant may hold {} tokens of the cache; {} were requested ({} in the prompt, {} in the answer)",
        spec.tenant_tokens, num_prompt + spec.max_tokens, num_prompt, spec.max_tokens);
  }
  if (spec.lockstep) {
    const int64_t pages =
        options_.groups.MostPages(num_prompt + spec.max_tokens, options_.max_batch_tokens) * spec.num_sequences;
    if (pages > pool_.num_blocks()) {
      return InvalidArgument("{} sequences of {} tokens side by side may take {} pages; the cache has {}",
                             spec.num_sequences, num_prompt + spec.max_tokens, pages, pool_.num_blocks());
    }
  }
  return Status();
}

Status Scheduler::CheckQueue(const RequestSpec& spec) const {
  if (options_.max_queued_requests > 0 && num_waiting() >= options_.max_queued_requests) {
    return ResourceExhausted("the queue is full: {} requests wait, the limit is {}", num_waiting(),
                             options_.max_queued_requests);
  }
  const auto num_prompt = static_cast<int64_t>(spec.prompt.size());
  const int64_t num_queued = waiting_.num_tokens() + held_back_.num_tokens();
  if (options_.max_queued_tokens > 0 && num_waiting() > 0 && num_queued + num_prompt > options_.max_queued_tokens) {
    return ResourceExhausted("the queue is full: {} prompt tokens wait, {} more would pass the limit of {}", num_queued,
                             num_prompt, options_.max_queued_tokens);
  }
  return Status();
}

Sequence& Scheduler::NewSequence() {
  const int64_t id = next_id_++;
  auto& sequence = sequences_[id];
  sequence = std::make_unique<Sequence>();
  sequence->id = id;
  return *sequence;
}

Result<Sequence*> Scheduler::Submit(RequestSpec spec, double now_s) {
  ADIT_RETURN_IF_ERROR(CheckFits(spec));
  ADIT_RETURN_IF_ERROR(CheckQueue(spec));
  if (options_.policy == Policy::kDeadline) {
    const double needed = static_cast<double>(spec.prompt.size()) * step_time_.SecondsPerPrefillToken();
    if (now_s + needed > spec.first_token_by_s) {
      return DeadlineExceeded("the first token is due in {:.3f} s; the prompt of {} tokens takes about {:.3f} s",
                              spec.first_token_by_s - now_s, spec.prompt.size(), needed);
    }
  }
  Sequence& sequence = NewSequence();
  sequence.tokens = std::move(spec.prompt);
  sequence.spec = std::move(spec);
  sequence.num_prompt = sequence.num_tokens();
  sequence.arrival_s = now_s;
  sequence.seats = sequence.spec.num_sequences;
  if (sequence.spec.lockstep) {
    gangs_.push_back(std::make_unique<Gang>());
    sequence.gang = gangs_.back().get();
    sequence.gang->members.push_back(&sequence);
  }
  any_tenant_limit_ |= sequence.spec.tenant_tokens > 0;
  ++counters_.submitted;
  Enqueue(sequence);
  return &sequence;
}

void Scheduler::Enqueue(Sequence& sequence) {
  sequence.phase = Phase::kWaiting;
  sequence.predicted_work_s = PredictWork(sequence);
  sequence.rank = RankOf(sequence);
  sequence.queued = true;
  waiting_.Push(sequence);
}

void Scheduler::LeaveQueue(Sequence& sequence) {
  sequence.queued = false;
  if (sequence.held_back) {
    held_back_.Erase(sequence);
  } else {
    waiting_.Erase(sequence);
  }
}

double Scheduler::PredictWork(const Sequence& sequence) const {
  const std::span<const int32_t> prompt(sequence.tokens.data(), static_cast<size_t>(sequence.num_prompt));
  const double output =
      estimator_.Predict(FeaturesOf(prompt, sequence.spec.tenant, sequence.spec.max_tokens)) * sequence.seats;
  const double left = std::max(1.0, output - static_cast<double>(sequence.num_output()));
  return static_cast<double>(sequence.num_pending()) * step_time_.SecondsPerPrefillToken() +
         left * SecondsPerOutputToken();
}

// What a token of an answer takes of the machine: its share of a step in the usual company.
double Scheduler::SecondsPerOutputToken() const {
  const double others = std::max(0.0, mean_decodes_ - 1.0);
  return (step_time_.Predict({.decodes = 1}) + others * step_time_.SecondsPerDecode()) / (1.0 + others);
}

double Scheduler::RankOf(const Sequence& sequence) const {
  switch (options_.policy) {
    case Policy::kPriority:
      return sequence.spec.priority;
    case Policy::kSjf:
      return sequence.predicted_work_s + kSjfAging * sequence.arrival_s;
    case Policy::kDeadline:
      // Slack less the present time, which is the same for all. Sequences past their first token go before all others.
      if (sequence.num_output() > 0) return -kNever;
      return sequence.spec.first_token_by_s -
             static_cast<double>(sequence.num_tokens()) * step_time_.SecondsPerPrefillToken();
    case Policy::kFcfs:
    case Policy::kLpm:
    case Policy::kFair:
      break;
  }
  return 0.0;  // all equal: by arrival
}

void Scheduler::CountStep() {
  ++counters_.steps;
  counters_.step_tokens.Observe(static_cast<double>(plan_.num_tokens()));
  counters_.last_step_sequences = static_cast<int64_t>(plan_.rows.size());
  counters_.step_sequences += counters_.last_step_sequences;
  for (const PlannedRows& rows : plan_.rows) {
    counters_.longest_sequence = std::max(counters_.longest_sequence, rows.sequence->num_tokens());
  }
}

void Scheduler::Commit(double now_s, double step_seconds) {
  CountStep();
  if (!plan_.rows.empty()) step_time_.Observe(plan_.load, step_seconds);
  if (plan_.load.decodes > 0) mean_decodes_ += (static_cast<double>(plan_.load.decodes) - mean_decodes_) * kMeanShare;
  for (const PlannedRows& rows : plan_.rows) {
    Sequence& sequence = *rows.sequence;
    if (sequence.phase == Phase::kIdle) continue;
    const bool in_prompt = sequence.num_computed < sequence.num_prompt;
    if (in_prompt) {
      ++sequence.num_chunks;
      counters_.prompt_tokens += rows.num_tokens;
    }
    sequence.num_computed += rows.num_tokens;
    if (sequence.first_step_s == kNever) sequence.first_step_s = now_s;
    // A prompt is kept for others once it is complete; where layers look back a window, before its pages are let go.
    const bool complete = sequence.num_computed >= sequence.num_prompt;
    const bool lets_go = options_.groups.windows.size() > 1 || options_.groups.windows.front() > 0;
    if (in_prompt && (complete || lets_go)) StoreInTree(sequence);
    sequence.pages.ReleaseBehind(sequence.num_computed);
  }
}

void Scheduler::Append(Sequence& sequence, int32_t token) {
  ADIT_CHECK(sequence.phase == Phase::kRunning && sequence.num_pending() == 0);
  sequence.tokens.push_back(token);
  ++counters_.output_tokens;
  fair_.ChargeOutput(sequence.spec.tenant, 1);
}

Sequence& Scheduler::Fork(Sequence& parent) {
  ADIT_CHECK(parent.phase == Phase::kRunning);
  Sequence* giver = &parent;
  if (parent.gang != nullptr) {
    for (Sequence* member : parent.gang->members) {
      if (member->seats > 1) giver = member;
    }
  }
  ADIT_CHECK(giver->seats > 1);
  Sequence& child = NewSequence();
  child.spec = parent.spec;
  child.tokens.reserve(static_cast<size_t>(parent.num_prompt + parent.spec.max_tokens));
  child.tokens = parent.tokens;
  child.num_prompt = parent.num_prompt;
  child.num_computed = parent.num_computed;
  child.is_long = parent.is_long;
  child.pages = parent.pages.Fork(parent.num_prompt + parent.spec.max_tokens);
  child.phase = Phase::kRunning;
  child.paused = parent.paused;
  child.arrival_s = parent.arrival_s;
  child.first_step_s = parent.first_step_s;
  child.rank = parent.rank;
  child.cached_tokens = parent.cached_tokens;
  child.num_chunks = parent.num_chunks;
  --giver->seats;
  child.seats = 1;
  child.gang = parent.gang;
  if (child.gang != nullptr) child.gang->members.push_back(&child);
  running_.push_back(&child);
  return child;
}

void Scheduler::Finish(Sequence& sequence, bool completed) {
  if (sequence.queued) LeaveQueue(sequence);
  const bool idles = options_.batching == Batching::kStatic && completed && sequence.phase == Phase::kRunning &&
                     sequence.gang == nullptr && sequence.decoding();
  if (sequence.phase == Phase::kRunning) {
    StoreInTree(sequence);
    if (idles) {
      std::erase(running_, &sequence);
      sequence.phase = Phase::kIdle;
      sequence.owner = nullptr;
      idle_.push_back(&sequence);
    } else {
      LeaveRunning(sequence);
    }
  }
  if (completed) {
    const std::span<const int32_t> prompt(sequence.tokens.data(), static_cast<size_t>(sequence.num_prompt));
    estimator_.Observe(FeaturesOf(prompt, sequence.spec.tenant, sequence.spec.max_tokens), sequence.num_output());
  }
  if (Gang* gang = sequence.gang) {
    std::erase(gang->members, &sequence);
    if (gang->members.empty()) {
      std::erase_if(gangs_, [&](const auto& other) { return other.get() == gang; });
    } else {
      // Its seats stay with the gang, for other beams to fork into.
      Sequence& heir = *gang->members.front();
      heir.seats += sequence.seats;
      if (heir.phase == Phase::kRunning) {
        seats_taken_ += sequence.seats;
        committed_tokens_ += sequence.most_tokens();
      }
    }
  }
  ++counters_.finished;
  if (blocked_ == &sequence) blocked_ = nullptr;
  if (!idles) sequences_.erase(sequence.id);
  if (running_.empty()) EndIdle();
}

void Scheduler::LeaveRunning(Sequence& sequence) {
  std::erase(running_, &sequence);
  GiveUpSeat(sequence);
  sequence.pages.Truncate(0);
}

void Scheduler::GiveUpSeat(const Sequence& sequence) {
  seats_taken_ -= sequence.seats;
  committed_tokens_ -= sequence.most_tokens();
}

// Nobody of the static batch runs any more.
void Scheduler::EndIdle() {
  while (!idle_.empty()) DropIdle();
}

void Scheduler::DropIdle() {
  const Sequence& sequence = *idle_.back();
  idle_.pop_back();
  GiveUpSeat(sequence);
  sequences_.erase(sequence.id);
}

void Scheduler::SetPaused(Sequence& sequence, bool paused) {
  const auto set = [&](Sequence& one) {
    if (one.paused == paused) return;
    one.paused = paused;
    if (one.phase != Phase::kWaiting) return;
    if (paused) {
      LeaveQueue(one);
    } else {
      Enqueue(one);
    }
  };
  if (sequence.gang == nullptr) {
    set(sequence);
  } else {
    for (Sequence* member : sequence.gang->members) set(*member);
  }
}

void Scheduler::StoreInTree(Sequence& sequence) {
  if (!options_.prefix_cache || !sequence.spec.use_prefix_cache) return;
  const uint64_t salt = TreeSalt(sequence, sequence.is_long);
  tree_.Insert(sequence.tokens, sequence.num_computed, salt, sequence.pages.tables());
}

// Salts are small numbers; those of long sequences have the top bit.
uint64_t Scheduler::TreeSalt(const Sequence& sequence, bool is_long) {
  return is_long ? sequence.spec.salt ^ (uint64_t{1} << 63) : sequence.spec.salt;
}

void Scheduler::ClearPrefixCache() { tree_.Clear(); }

PageUse Scheduler::page_use() const {
  PageUse use{.num_pages = pool_.num_blocks(), .num_free = pool_.num_free(), .num_cached = tree_.num_evictable()};
  for (const auto* sequences : {&running_, &idle_}) {
    for (const Sequence* sequence : *sequences) {
      use.held_tokens += sequence->pages.num_pages() * options_.groups.block_size;
      use.written_tokens += sequence->pages.WrittenTokens(sequence->num_computed);
    }
  }
  return use;
}

double Scheduler::EstimatedQueueSeconds() const {
  double seconds = std::max(0.0, waiting_.predicted_work_s() + held_back_.predicted_work_s());
  for (const Sequence* sequence : running_) {
    if (!sequence->decoding()) {
      seconds += static_cast<double>(sequence->num_pending()) * step_time_.SecondsPerPrefillToken();
    }
  }
  return seconds;
}

}  // namespace adit::sched
