#ifndef ADIT_SCHED_OPTIONS_H_
#define ADIT_SCHED_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "kv/sequence_pages.h"

namespace adit::sched {

// Who runs next, and who gives way when pages run out.
enum class Policy : uint8_t {
  kFcfs,      // first come, first served
  kPriority,  // lowest priority number first, then first come
  kSjf,       // least predicted work first, plus a share of the time waited so that nobody starves
  kLpm,       // longest prefix in the cache first
  kFair,      // the tenant that has had the least service first (VTC, Sheng et al. 2024)
  kDeadline,  // least slack to the time-to-first-token objective first
};

enum class Batching : uint8_t {
  kContinuous,  // a finished sequence's place is taken in the next step (Orca, Yu et al. 2022)
  // A batch runs until its last member ends, and those that have ended are computed on until then: the baseline that
  // Orca's paper measures against.
  kStatic,
};

Result<Policy> ParsePolicy(std::string_view name);
std::string_view PolicyName(Policy policy);
Result<Batching> ParseBatching(std::string_view name);
std::string_view BatchingName(Batching batching);

// One who shares the machine with others.
struct Tenant {
  std::string name = "default";
  double weight = 1.0;  // of its share under Policy::kFair, above 0
};

struct SchedulerOptions {
  Policy policy = Policy::kFcfs;
  Batching batching = Batching::kContinuous;
  bool chunked_prefill = true;  // false: a prompt runs whole, in one step
  bool prefix_cache = true;

  kv::PageGroups groups;
  int64_t max_context = 0;  // tokens of a sequence, prompt and answer together
  // Sequences of more tokens than this are computed in another way than shorter ones (LongRoPE): one that grows past it
  // begins anew, and cached prefixes serve only sequences of their own kind. 0: there is one way.
  int64_t short_length = 0;
  int64_t max_batch_tokens = 512;  // of a step
  int64_t max_num_seqs = 64;       // that run at once
  double itl_target_s = 0.0;       // > 0: prompts run in chunks so small that steps with decodes keep to it

  int64_t max_queued_requests = 1024;  // 0: no limit
  int64_t max_queued_tokens = 0;       // prompt tokens of those that wait; 0: no limit

  std::vector<Tenant> tenants;  // empty: one, of weight 1
};

// InvalidArgument, naming the option, its value and what would be right.
Status Validate(const SchedulerOptions& options);

}  // namespace adit::sched

#endif  // ADIT_SCHED_OPTIONS_H_
