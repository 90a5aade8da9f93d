#ifndef ADIT_SCHED_WORKLOAD_H_
#define ADIT_SCHED_WORKLOAD_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "sched/length_distribution.h"

namespace adit::sched {

// One who sends requests.
struct WorkloadTenant {
  std::string name;
  double share = 1.0;   // of the conversations, relative to the others'; above 0
  double weight = 1.0;  // of its claim under Policy::kFair; above 0
};

// "4": so many tenants with equal shares, "t0" to "t3". Or "NAME:SHARE" or "NAME:SHARE:WEIGHT", several between commas:
// "chat:3,batch:1:0.5". At most 1,000 tenants. InvalidArgument that names the text and what is wrong with it.
Result<std::vector<WorkloadTenant>> ParseTenants(std::string_view text);

// What a synthetic workload is like. A *conversation* has `turns` requests: the prompt of a later one is the earlier
// prompt, its answer, and new tokens.
struct WorkloadOptions {
  int64_t num_requests = 100;  // all turns counted
  uint64_t seed = 0;

  // First turns arrive in gaps of a gamma distribution of mean 1 / rate and shape `burstiness`: 1 is a Poisson process,
  // below 1 is burstier, above is more even. Infinite: all at time 0.
  double requests_per_s = std::numeric_limits<double>::infinity();
  double burstiness = 1.0;

  LengthDistribution prompt_tokens = LengthDistribution::Fixed(512);  // new ones of each turn
  LengthDistribution output_tokens = LengthDistribution::Fixed(128);
  int64_t declared_tokens = 0;  // max_tokens that requests declare; 0: what their answer will have

  int64_t shared_prefix_tokens = 0;  // that conversations of one group begin with, before their own tokens
  int64_t num_prefix_groups = 1;     // each conversation is of one, evenly drawn

  int64_t turns = 1;
  double think_s = 0.0;  // mean time from an answer to the next turn, exponentially distributed

  std::vector<WorkloadTenant> tenants = {{.name = "default"}};
  int32_t num_priorities = 1;  // each conversation has one of 0..num_priorities-1, evenly drawn

  int32_t vocab_size = 32000;  // tokens are 0..vocab_size-1, evenly drawn
};

// InvalidArgument, naming the option, its value and what would be right.
Status Validate(const WorkloadOptions& options);

// Some tokens of a prompt. Equal contents are equal tokens, up to the length of the shorter.
struct PromptPart {
  uint64_t content = 0;
  int64_t num_tokens = 0;
};

// One request.
struct WorkloadRequest {
  int64_t follows = -1;    // the request whose prompt and answer its own prompt begins with, of a lower index; -1: none
  double arrival_s = 0.0;  // of one that follows none
  double think_s = 0.0;    // of one that follows: from the end of that answer to its arrival
  std::vector<PromptPart> parts;  // of the prompt, after what it takes over
  int64_t output_tokens = 1;      // its answer will have
  int64_t max_tokens = 1;         // it declares; at least output_tokens
  int32_t tenant = 0;
  int32_t priority = 0;

  int64_t num_new_tokens() const;
};

// A list of requests whose tokens are functions of the seed. Of equal options but num_requests, request i is the same.
// Holds lengths alone; tokens are made when asked for. Constant after construction.
class Workload {
 public:
  static Result<Workload> Create(const WorkloadOptions& options);
  // Requests of a trace. InvalidArgument where one follows none before it, arrives before time 0, has no tokens or too
  // many, or a tenant that is none.
  static Result<Workload> FromRequests(std::vector<WorkloadRequest> requests, std::vector<WorkloadTenant> tenants,
                                       uint64_t seed, int32_t vocab_size);

  int64_t num_requests() const { return static_cast<int64_t>(requests_.size()); }
  const WorkloadRequest& request(int64_t index) const { return requests_[static_cast<size_t>(index)]; }
  std::span<const WorkloadRequest> requests() const { return requests_; }
  std::span<const WorkloadTenant> tenants() const { return tenants_; }
  int32_t vocab_size() const { return vocab_size_; }

  // The tokens of request `index`'s parts, behind those of `tokens`.
  void AppendNewTokens(int64_t index, std::vector<int32_t>& tokens) const;
  // What a simulated model answers at `position` of the answer to request `index`.
  int32_t AnswerToken(int64_t index, int64_t position) const;

 private:
  Workload(std::vector<WorkloadRequest> requests, std::vector<WorkloadTenant> tenants, uint64_t seed,
           int32_t vocab_size);

  std::vector<WorkloadRequest> requests_;
  std::vector<WorkloadTenant> tenants_;
  uint64_t seed_;
  int32_t vocab_size_;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_WORKLOAD_H_
