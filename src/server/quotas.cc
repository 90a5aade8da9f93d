#include "server/quotas.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace adit::server {
namespace {

// When a request that waits for another one's end may as well ask again.
constexpr double kConcurrentRetryS = 1.0;

ApiError TooMuch(const char* code, std::string message, double retry_after_s) {
  return {.status = 429,
          .type = "rate_limit_error",
          .code = code,
          .message = std::move(message),
          .retry_after_s = std::ceil(retry_after_s)};
}

}  // namespace

void Quotas::Bucket::Fill(int64_t per_minute, double now_s) {
  const auto most = static_cast<double>(per_minute);
  level = filled_s == 0.0 ? most : std::min(most, level + (now_s - filled_s) * most / 60.0);
  filled_s = now_s;
}

double Quotas::Bucket::SecondsUntil(double wanted, int64_t per_minute) const {
  return std::max(0.0, (wanted - level) * 60.0 / static_cast<double>(per_minute));
}

std::optional<ApiError> Quotas::Enter(const std::string& key, const QuotaLimits& limits, double now_s) {
  const std::lock_guard lock(mutex_);
  Account& account = accounts_[key];
  account.limits = limits;
  if (limits.max_concurrent > 0 && account.running >= limits.max_concurrent) {
    return TooMuch("rate_limit_exceeded",
                   fmt::format("the key has {} requests under way, the most it may have", account.running),
                   kConcurrentRetryS);
  }
  if (limits.tokens_per_minute > 0) {
    account.tokens.Fill(limits.tokens_per_minute, now_s);
    if (account.tokens.level <= 0) {
      return TooMuch("tokens_per_minute_exceeded",
                     fmt::format("the key has used up its {} tokens per minute", limits.tokens_per_minute),
                     account.tokens.SecondsUntil(1, limits.tokens_per_minute));
    }
  }
  if (limits.requests_per_minute > 0) {
    account.requests.Fill(limits.requests_per_minute, now_s);
    if (account.requests.level < 1) {
      return TooMuch("rate_limit_exceeded",
                     fmt::format("the key has used up its {} requests per minute", limits.requests_per_minute),
                     account.requests.SecondsUntil(1, limits.requests_per_minute));
    }
    account.requests.level -= 1;
  }
  ++account.running;
  return std::nullopt;
}

void Quotas::Charge(const std::string& key, int64_t tokens, double now_s) {
  const std::lock_guard lock(mutex_);
  Account& account = accounts_[key];
  if (account.limits.tokens_per_minute == 0) return;
  account.tokens.Fill(account.limits.tokens_per_minute, now_s);
  account.tokens.level -= static_cast<double>(tokens);
}

void Quotas::Leave(const std::string& key) {
  const std::lock_guard lock(mutex_);
  --accounts_[key].running;
}

void Quotas::AddHeaders(const std::string& key, double now_s, HttpHead& head) {
  const std::lock_guard lock(mutex_);
  const auto found = accounts_.find(key);
  if (found == accounts_.end()) return;
  Account& account = found->second;
  const auto add = [&](const char* what, Bucket& bucket, int64_t per_minute) {
    if (per_minute == 0) return;
    bucket.Fill(per_minute, now_s);
    const auto most = static_cast<double>(per_minute);
    head.headers.emplace_back(fmt::format("x-ratelimit-limit-{}", what), std::to_string(per_minute));
    head.headers.emplace_back(fmt::format("x-ratelimit-remaining-{}", what),
                              fmt::format("{:.0f}", std::max(0.0, std::floor(bucket.level))));
    head.headers.emplace_back(fmt::format("x-ratelimit-reset-{}", what),
                              fmt::format("{:.3f}s", bucket.SecondsUntil(most, per_minute)));
  };
  add("requests", account.requests, account.limits.requests_per_minute);
  add("tokens", account.tokens, account.limits.tokens_per_minute);
}

}  // namespace adit::server
