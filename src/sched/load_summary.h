#ifndef ADIT_SCHED_LOAD_SUMMARY_H_
#define ADIT_SCHED_LOAD_SUMMARY_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "sched/distribution_summary.h"
#include "sched/sequence.h"
#include "sched/timeline.h"

namespace adit::sched {

// How a request of a workload ended.
enum class Ending : uint8_t {
  kComplete,   // with all its tokens
  kTooLong,    // refused: can never run here
  kQueueFull,  // refused: too many waited
  kLate,       // refused, or given up while it waited: its objective could not be met
  kCancelled,  // by its sender
  kFailed,     // with an error
  kSkipped,    // never sent, since the request that it follows did not complete
};
inline constexpr int kNumEndings = 7;

// "complete", "too_long", "queue_full", "late", "cancelled", "failed" or "skipped".
std::string_view EndingName(Ending ending);

// How a request ended that was refused, or failed, with an error of this code.
Ending EndingOf(StatusCode code);

// What became of one request. Times are seconds since the start; kNever: it did not get there.
struct RequestOutcome {
  Ending ending = Ending::kSkipped;
  int32_t tenant = 0;
  double arrival_s = kNever;
  double first_step_s = kNever;
  double first_token_s = kNever;
  double finish_s = kNever;
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, found in the prefix cache at the first step
  int64_t output_tokens = 0;
  int64_t preemptions = 0;
  int64_t chunks = 0;             // steps that the prompt took
  std::vector<float> token_gaps;  // seconds between one token and the next, [output_tokens - 1]
};

// What is promised to each request. kNever: nothing.
struct Objectives {
  double first_token_s = kNever;     // from arrival to the first token
  double token_interval_s = kNever;  // mean time between tokens after it
  bool any() const { return first_token_s != kNever || token_interval_s != kNever; }
};
// "ttft:MS", "tpot:MS" or both between commas, milliseconds above 0, also written "250ms" or "0.25s". InvalidArgument
// that names the text.
Result<Objectives> ParseObjectives(std::string_view text);

struct TenantSummary {
  int64_t requests = 0;
  int64_t completed = 0;
  int64_t output_tokens = 0;
  Spread ttft_s;
  Spread e2e_s;
};

// How evenly tenants were served (sched/fair_share.h); in units of service, which weigh prompt and output tokens.
struct FairnessSummary {
  double largest_gap = 0.0;
  double bound = 0.0;
  int64_t violations = 0;  // of the bound, which holds under Policy::kFair
};

// What a workload took. All times are of requests that completed.
struct LoadSummary {
  int64_t requests = 0;
  int64_t endings[kNumEndings] = {};  // [Ending], requests
  double duration_s = 0.0;            // from the first arrival to the last end

  int64_t prompt_tokens = 0;  // of completed requests, cached ones included
  int64_t cached_tokens = 0;
  int64_t output_tokens = 0;
  double requests_per_s = 0.0;
  double prompt_tokens_per_s = 0.0;
  double output_tokens_per_s = 0.0;

  Spread ttft_s;   // from arrival to the first token
  Spread itl_s;    // between one token and the next, over all tokens of all requests
  Spread tpot_s;   // mean time between the tokens of a request, over requests with at least two
  Spread e2e_s;    // from arrival to the last token
  Spread queue_s;  // from arrival to the first step
  TimeHistogram ttft_histogram;
  TimeHistogram itl_histogram;

  double cached_share = 0.0;  // of the prompt tokens
  int64_t preemptions = 0;    // of all requests
  double mean_chunks = 0.0;   // steps that a prompt took

  Objectives objectives;
  int64_t met_objectives = 0;  // requests that completed within them
  double goodput_per_s = 0.0;  // those, each second

  std::vector<TenantSummary> tenants;

  // Filled by whoever drove the load.
  int64_t steps = 0;
  int64_t recomputed_tokens = 0;  // lost to preemptions and run again
  double mean_running = 0.0;      // sequences, while something ran
  PageUseSummary pages;
  FairnessSummary fairness;
  // Seen by a client of a server: of its steps, pages and tenants nothing is known, and of its queue only what the time
  // to first token tells.
  bool from_outside = false;
  double late_most_s = 0.0;  // after its time, that a request was sent
  int64_t pieces = 0;        // of answers: parts of streams that told of tokens, one or more

  int64_t ended(Ending ending) const { return endings[static_cast<size_t>(ending)]; }
  int64_t refused() const { return ended(Ending::kTooLong) + ended(Ending::kQueueFull) + ended(Ending::kLate); }
};

// All that outcomes tell. Precondition: their tenants are in 0..num_tenants-1.
LoadSummary Summarize(std::span<const RequestOutcome> outcomes, size_t num_tenants, const Objectives& objectives);

}  // namespace adit::sched

#endif  // ADIT_SCHED_LOAD_SUMMARY_H_
