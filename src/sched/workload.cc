#include "sched/workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "sched/random_variate.h"

namespace adit::sched {
namespace {

constexpr int64_t kMaxRequests = 10'000'000;
constexpr int64_t kMaxParts = 65'536;

// One stream of random numbers for each thing that is drawn.
enum Stream : uint32_t {
  kGapStream = 1,
  kPromptLengthStream,
  kOutputLengthStream,
  kGroupStream,
  kTenantStream,
  kPriorityStream,
  kThinkStream,
  kPromptTokenStream,
  kAnswerTokenStream,
};

// Contents of prompts: those of groups are odd, those of single requests even.
uint64_t GroupContent(int64_t group) { return 2 * static_cast<uint64_t>(group) + 1; }
uint64_t RequestContent(int64_t index) { return 2 * static_cast<uint64_t>(index); }

// A whole number of 0..count-1.
int64_t DrawIndex(int64_t count, uint64_t seed, int64_t position, uint32_t stream) {
  const double u = RandomUniform(seed, static_cast<uint64_t>(position), stream);
  return std::min(count - 1, static_cast<int64_t>(u * static_cast<double>(count)));
}

int32_t DrawTenant(std::span<const WorkloadTenant> tenants, uint64_t seed, int64_t conversation) {
  double all = 0.0;
  for (const WorkloadTenant& tenant : tenants) all += tenant.share;
  double left = all * RandomUniform(seed, static_cast<uint64_t>(conversation), kTenantStream);
  for (size_t i = 0; i + 1 < tenants.size(); ++i) {
    left -= tenants[i].share;
    if (left < 0.0) return static_cast<int32_t>(i);
  }
  return static_cast<int32_t>(tenants.size()) - 1;
}

// Words of the random block `block` of a content.
std::array<uint32_t, 4> TokenWords(uint64_t seed, uint64_t content, uint32_t block, uint32_t stream) {
  return Philox4x32({static_cast<uint32_t>(content), static_cast<uint32_t>(content >> 32), stream, block},
                    {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

// Maps 32 random bits evenly to 0..vocab_size-1.
int32_t TokenOf(uint32_t word, int32_t vocab_size) {
  return static_cast<int32_t>((uint64_t{word} * static_cast<uint64_t>(vocab_size)) >> 32);
}

Status CheckShares(std::span<const WorkloadTenant> tenants) {
  if (tenants.empty()) return InvalidArgument("workload: there is no tenant; there is at least one");
  for (const WorkloadTenant& tenant : tenants) {
    if (!(tenant.share > 0.0 && tenant.share <= 1e6)) {
      return InvalidArgument("workload: tenant '{}' has share {}; it is above 0, at most 1e6", tenant.name,
                             tenant.share);
    }
  }
  return Status();
}

WorkloadRequest MakeRequest(const WorkloadOptions& options, int64_t index) {
  const int64_t conversation = index / options.turns;
  const int64_t turn = index % options.turns;
  const auto position = static_cast<uint64_t>(index);
  WorkloadRequest request;
  if (turn > 0) {
    request.follows = index - 1;
    request.think_s = options.think_s * StandardExponential(options.seed, position, kThinkStream);
  } else if (options.shared_prefix_tokens > 0) {
    const int64_t group = DrawIndex(options.num_prefix_groups, options.seed, conversation, kGroupStream);
    request.parts.push_back({.content = GroupContent(group), .num_tokens = options.shared_prefix_tokens});
  }
  request.parts.push_back({.content = RequestContent(index),
                           .num_tokens = options.prompt_tokens.Draw(options.seed, position, kPromptLengthStream)});
  request.output_tokens = options.output_tokens.Draw(options.seed, position, kOutputLengthStream);
  request.max_tokens = std::max(options.declared_tokens, request.output_tokens);
  request.tenant = DrawTenant(options.tenants, options.seed, conversation);
  request.priority =
      static_cast<int32_t>(DrawIndex(options.num_priorities, options.seed, conversation, kPriorityStream));
  return request;
}

Status CheckRequest(std::span<const WorkloadRequest> requests, size_t index, size_t num_tenants) {
  const WorkloadRequest& request = requests[index];
  const auto wrong = [index](std::string_view what, auto value) {
    return InvalidArgument("workload: request {} {} {}", index, what, value);
  };
  if (request.follows < -1 || request.follows >= static_cast<int64_t>(index)) {
    return wrong("does not come after the one that it follows,", request.follows);
  }
  if (!(request.arrival_s >= 0.0 && std::isfinite(request.arrival_s))) return wrong("arrives at", request.arrival_s);
  if (!(request.think_s >= 0.0 && std::isfinite(request.think_s))) return wrong("has think time", request.think_s);
  if (request.tenant < 0 || static_cast<size_t>(request.tenant) >= num_tenants) {
    return wrong("has no tenant such as", request.tenant);
  }
  if (request.parts.empty() || static_cast<int64_t>(request.parts.size()) > kMaxParts) {
    return wrong("has a number of parts of", request.parts.size());
  }
  for (const PromptPart& part : request.parts) {
    if (part.num_tokens < 0 || part.num_tokens > LengthDistribution::kMaxTokens) {
      return wrong("has a part with a number of tokens of", part.num_tokens);
    }
  }
  const int64_t prompt = request.num_new_tokens();
  if (prompt < 1 || prompt > LengthDistribution::kMaxTokens) return wrong("has a prompt of tokens", prompt);
  if (request.output_tokens < 1 || request.output_tokens > LengthDistribution::kMaxTokens ||
      request.max_tokens < request.output_tokens || request.max_tokens > LengthDistribution::kMaxTokens) {
    return wrong("has an answer of tokens", request.output_tokens);
  }
  return Status();
}

}  // namespace

int64_t WorkloadRequest::num_new_tokens() const {
  int64_t num_tokens = 0;
  for (const PromptPart& part : parts) num_tokens += part.num_tokens;
  return num_tokens;
}

Status Validate(const WorkloadOptions& options) {
  const auto in_range = [](std::string_view name, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return Status();
    return InvalidArgument("workload: {} is {}; it is in {}..{}", name, value, low, high);
  };
  constexpr int64_t kMaxTokens = LengthDistribution::kMaxTokens;
  ADIT_RETURN_IF_ERROR(in_range("the number of requests", options.num_requests, 1, kMaxRequests));
  ADIT_RETURN_IF_ERROR(in_range("max_tokens", options.declared_tokens, 0, kMaxTokens));
  ADIT_RETURN_IF_ERROR(in_range("the shared prefix", options.shared_prefix_tokens, 0, kMaxTokens));
  ADIT_RETURN_IF_ERROR(in_range("the number of prefix groups", options.num_prefix_groups, 1, kMaxRequests));
  ADIT_RETURN_IF_ERROR(in_range("the number of turns", options.turns, 1, 1000));
  ADIT_RETURN_IF_ERROR(in_range("the number of priorities", options.num_priorities, 1, 1000));
  ADIT_RETURN_IF_ERROR(in_range("the vocabulary", options.vocab_size, 1, std::numeric_limits<int32_t>::max()));
  if (!(options.requests_per_s > 0.0)) {
    return InvalidArgument("workload: the rate is {} requests/s; it is above 0, or inf", options.requests_per_s);
  }
  if (!(options.burstiness >= 0.01 && options.burstiness <= 1000.0)) {
    return InvalidArgument("workload: burstiness is {}; it is in 0.01..1000", options.burstiness);
  }
  if (!(options.think_s >= 0.0 && options.think_s <= 1e6)) {
    return InvalidArgument("workload: the think time is {} s; it is in 0..1e6", options.think_s);
  }
  return CheckShares(options.tenants);
}

Workload::Workload(std::vector<WorkloadRequest> requests, std::vector<WorkloadTenant> tenants, uint64_t seed,
                   int32_t vocab_size)
    : requests_(std::move(requests)), tenants_(std::move(tenants)), seed_(seed), vocab_size_(vocab_size) {}

Result<Workload> Workload::Create(const WorkloadOptions& options) {
  ADIT_RETURN_IF_ERROR(Validate(options));
  std::vector<WorkloadRequest> requests;
  requests.reserve(static_cast<size_t>(options.num_requests));
  const double mean_gap_s = 1.0 / options.requests_per_s;
  double arrival_s = 0.0;
  for (int64_t index = 0; index < options.num_requests; ++index) {
    WorkloadRequest request = MakeRequest(options, index);
    if (request.follows < 0) {
      // The first arrives at 0, so that no time is measured in which nothing was asked.
      if (index > 0 && mean_gap_s > 0.0) {
        const double gap = Gamma(options.burstiness, options.seed, static_cast<uint64_t>(index), kGapStream);
        arrival_s += mean_gap_s * gap / options.burstiness;
      }
      request.arrival_s = arrival_s;
    }
    requests.push_back(std::move(request));
  }
  return Workload(std::move(requests), options.tenants, options.seed, options.vocab_size);
}

Result<Workload> Workload::FromRequests(std::vector<WorkloadRequest> requests, std::vector<WorkloadTenant> tenants,
                                        uint64_t seed, int32_t vocab_size) {
  ADIT_RETURN_IF_ERROR(CheckShares(tenants));
  if (vocab_size < 1) return InvalidArgument("workload: the vocabulary is {}; it is at least 1", vocab_size);
  if (static_cast<int64_t>(requests.size()) > kMaxRequests) {
    return InvalidArgument("workload: {} requests; at most {}", requests.size(), kMaxRequests);
  }
  for (size_t i = 0; i < requests.size(); ++i) ADIT_RETURN_IF_ERROR(CheckRequest(requests, i, tenants.size()));
  return Workload(std::move(requests), std::move(tenants), seed, vocab_size);
}

void Workload::AppendNewTokens(int64_t index, std::vector<int32_t>& tokens) const {
  for (const PromptPart& part : request(index).parts) {
    const size_t end = tokens.size() + static_cast<size_t>(part.num_tokens);
    for (uint32_t block = 0; tokens.size() < end; ++block) {
      for (const uint32_t word : TokenWords(seed_, part.content, block, kPromptTokenStream)) {
        if (tokens.size() < end) tokens.push_back(TokenOf(word, vocab_size_));
      }
    }
  }
}

int32_t Workload::AnswerToken(int64_t index, int64_t position) const {
  const auto words =
      TokenWords(seed_, static_cast<uint64_t>(index), static_cast<uint32_t>(position), kAnswerTokenStream);
  return TokenOf(words[0], vocab_size_);
}

}  // namespace adit::sched
