#include "sched/output_estimator.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace adit::sched {
namespace {

// Tokens at the start of a prompt that tell its kind.
constexpr size_t kPrefixTokens = 32;
// A mean of this many answers weighs as much as that of the wider class.
constexpr double kPriorCount = 4.0;
// A mean forgets: no answer weighs less than this share in it.
constexpr double kLeastShare = 0.02;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

template <typename Mean>
void Add(Mean& mean, double value) {
  mean.count += 1.0;
  mean.value += (value - mean.value) * std::max(1.0 / mean.count, kLeastShare);
}

}  // namespace

PromptFeatures FeaturesOf(std::span<const int32_t> prompt, int32_t tenant, int64_t max_tokens) {
  uint64_t prefix = 0;
  for (const int32_t token : prompt.first(std::min(prompt.size(), kPrefixTokens))) {
    prefix = Mix(prefix, static_cast<uint64_t>(token));
  }
  return {
      .tenant = tenant, .num_prompt = static_cast<int64_t>(prompt.size()), .prefix = prefix, .max_tokens = max_tokens};
}

std::array<uint64_t, OutputEstimator::kLevels> OutputEstimator::Classes(const PromptFeatures& features) {
  const uint64_t tenant = Mix(1, static_cast<uint64_t>(features.tenant));
  const auto bucket = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(features.num_prompt)));
  return {0, tenant, Mix(Mix(tenant, 2), bucket), Mix(Mix(tenant, 3), features.prefix)};
}

double OutputEstimator::PredictByLength(const PromptFeatures& features) const {
  double guess = static_cast<double>(features.max_tokens);
  for (const uint64_t key : Classes(features)) {
    const auto found = lengths_.find(key);
    if (found == lengths_.end()) continue;
    const Mean& mean = found->second;
    guess = (mean.count * mean.value + kPriorCount * guess) / (mean.count + kPriorCount);
  }
  return std::min(guess, static_cast<double>(features.max_tokens));
}

double OutputEstimator::PredictByShare(const PromptFeatures& features) const {
  const auto found = tenants_.find(features.tenant);
  const Mean share = found == tenants_.end() ? Mean{} : found->second.share;
  return static_cast<double>(features.max_tokens) * (share.count * share.value + kPriorCount) /
         (share.count + kPriorCount);
}

double OutputEstimator::Predict(const PromptFeatures& features) const {
  const auto found = tenants_.find(features.tenant);
  const bool by_length = found != tenants_.end() && found->second.length_error < found->second.share_error;
  return by_length ? PredictByLength(features) : PredictByShare(features);
}

void OutputEstimator::Observe(const PromptFeatures& features, int64_t num_output) {
  if (features.max_tokens < 1) return;
  const double length = static_cast<double>(num_output);
  const double most = static_cast<double>(features.max_tokens);
  TenantHistory& tenant = tenants_[features.tenant];
  const auto follow = [&](double& error, double guess) {
    const double miss = std::abs(guess - length) / most;
    error = tenant.seen ? error + (miss - error) * 0.05 : miss;
  };
  follow(tenant.length_error, PredictByLength(features));
  follow(tenant.share_error, PredictByShare(features));
  tenant.seen = true;
  Add(tenant.share, length / most);
  if (lengths_.size() + kLevels > kMaxClasses) lengths_.clear();
  for (const uint64_t key : Classes(features)) Add(lengths_[key], length);
}

}  // namespace adit::sched
