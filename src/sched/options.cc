#include "sched/options.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace adit::sched {
namespace {

constexpr std::array<std::pair<std::string_view, Policy>, 6> kPolicies = {{{"fcfs", Policy::kFcfs},
                                                                           {"priority", Policy::kPriority},
                                                                           {"sjf", Policy::kSjf},
                                                                           {"lpm", Policy::kLpm},
                                                                           {"fair", Policy::kFair},
                                                                           {"deadline", Policy::kDeadline}}};
constexpr std::array<std::pair<std::string_view, Batching>, 2> kBatchings = {
    {{"continuous", Batching::kContinuous}, {"static", Batching::kStatic}}};

}  // namespace

Result<Policy> ParsePolicy(std::string_view name) {
  for (const auto& [known, policy] : kPolicies) {
    if (known == name) return policy;
  }
  return InvalidArgument("scheduling policy '{}': there are fcfs, priority, sjf, lpm, fair and deadline", name);
}

std::string_view PolicyName(Policy policy) { return kPolicies[static_cast<size_t>(policy)].first; }

Result<Batching> ParseBatching(std::string_view name) {
  for (const auto& [known, batching] : kBatchings) {
    if (known == name) return batching;
  }
  return InvalidArgument("batching '{}': there are continuous and static", name);
}

std::string_view BatchingName(Batching batching) { return kBatchings[static_cast<size_t>(batching)].first; }

Status Validate(const SchedulerOptions& options) {
  const auto at_least = [](std::string_view name, int64_t value, int64_t least) {
    if (value >= least) return Status();
    return InvalidArgument("scheduler: {} is {}; it is at least {}", name, value, least);
  };
  ADIT_RETURN_IF_ERROR(at_least("block_size", options.groups.block_size, 1));
  ADIT_RETURN_IF_ERROR(at_least("groups of layers", static_cast<int64_t>(options.groups.windows.size()), 1));
  ADIT_RETURN_IF_ERROR(at_least("max_context", options.max_context, 2));
  ADIT_RETURN_IF_ERROR(at_least("max_num_seqs", options.max_num_seqs, 1));
  ADIT_RETURN_IF_ERROR(at_least("max_queued_requests", options.max_queued_requests, 0));
  ADIT_RETURN_IF_ERROR(at_least("max_queued_tokens", options.max_queued_tokens, 0));
  if (options.max_batch_tokens < options.max_num_seqs) {
    return InvalidArgument(
        "scheduler: max_batch_tokens is {} and max_num_seqs {}: a step has room for a token of every running sequence",
        options.max_batch_tokens, options.max_num_seqs);
  }
  if (!(options.itl_target_s >= 0.0)) {
    return InvalidArgument("scheduler: itl_target_s is {}; it is 0 (none) or above", options.itl_target_s);
  }
  for (const Tenant& tenant : options.tenants) {
    if (tenant.weight > 0.0 && tenant.weight <= 1e6) continue;
    return InvalidArgument("scheduler: tenant '{}' has weight {}; it is above 0, at most 1e6", tenant.name,
                           tenant.weight);
  }
  return Status();
}

}  // namespace adit::sched
