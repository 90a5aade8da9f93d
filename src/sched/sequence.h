#ifndef ADIT_SCHED_SEQUENCE_H_
#define ADIT_SCHED_SEQUENCE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "kv/sequence_pages.h"

namespace adit::sched {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// What the scheduler is told of a request. Times are seconds on the caller's clock.
struct RequestSpec {
  std::vector<int32_t> prompt;   // at least one token
  int64_t max_tokens = 0;        // of each answer; prompt and answer together fit the context
  int32_t num_sequences = 1;     // answers that will share the prompt
  bool lockstep = false;         // they advance together, step by step (beam search)
  int32_t priority = 0;          // lower runs first
  int32_t tenant = 0;            // index into SchedulerOptions::tenants
  int64_t tenant_tokens = 0;     // that the tenant's running sequences may hold while this one runs; 0: no limit
  uint64_t salt = 0;             // sequences share cached prefixes only within one salt
  bool use_prefix_cache = true;  // false: neither reads from it nor adds to it
  int64_t most_step_tokens = std::numeric_limits<int64_t>::max();  // of the prompt in one step
  double first_token_by_s = kNever;                                // objective of the first token
  double token_interval_s = kNever;                                // objective of each token after
};

enum class Phase : uint8_t {
  kWaiting,  // for its first step, or for another turn after a preemption
  kRunning,  // holds pages
  kIdle,     // has ended, and runs on for nothing until its static batch ends
};

struct Sequence;

// Sequences that advance together. They run when all are at their last known token, and begin and give way as one.
struct Gang {
  std::vector<Sequence*> members;
};

// One sequence of tokens in service. Changed by the scheduler alone; others read.
struct Sequence {
  int64_t id = 0;               // rises with the order of arrival
  RequestSpec spec;             // its prompt has moved into tokens
  std::vector<int32_t> tokens;  // prompt, then answer
  int64_t num_prompt = 0;
  int64_t num_computed = 0;  // tokens whose keys and values are in the cache
  bool is_long = false;      // they were computed for a sequence longer than SchedulerOptions::short_length
  kv::SequencePages pages;
  Phase phase = Phase::kWaiting;
  bool paused = false;  // gets no steps for now: its reader is slow

  double arrival_s = 0.0;
  double first_step_s = kNever;
  double predicted_work_s = 0.0;  // when it last began to wait
  double rank = 0.0;              // of the policy, lower first
  int64_t cached_tokens = 0;      // of the prompt, found in the cache at the first step
  int64_t num_chunks = 0;         // steps that its prompt took
  int64_t num_preemptions = 0;
  kv::MissReason miss_reason = kv::MissReason::kNone;
  int64_t miss_position = 0;
  bool queued = false;        // stands in the waiting queue, or is held back
  bool held_back = false;     // for others of its tenant
  int times_passed_over = 0;  // while it waited, by others with more in the cache
  int32_t seats = 1;          // of max_num_seqs: itself, and the answers still to be forked off
  Gang* gang = nullptr;       // of lockstep sequences
  void* owner = nullptr;      // the caller's

  int64_t num_tokens() const { return static_cast<int64_t>(tokens.size()); }
  int64_t num_output() const { return num_tokens() - num_prompt; }
  // Tokens that are known but not yet computed; the last one's pass gives the next token's logits.
  int64_t num_pending() const { return num_tokens() - num_computed; }
  bool decoding() const { return num_output() > 0 && num_pending() == 1; }
  // Most tokens that it and the answers to be forked off may come to.
  int64_t most_tokens() const { return (num_prompt + spec.max_tokens) * seats; }
};

// The order of the policy: lower rank first, then the first to arrive.
inline bool RanksBefore(const Sequence* a, const Sequence* b) {
  return a->rank < b->rank || (a->rank == b->rank && a->id < b->id);
}

}  // namespace adit::sched

#endif  // ADIT_SCHED_SEQUENCE_H_
