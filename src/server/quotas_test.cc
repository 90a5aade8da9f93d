#include "server/quotas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::server {
namespace {

using ::testing::HasSubstr;

std::string HeaderOf(Quotas& quotas, double now_s, const std::string& name) {
  HttpHead head;
  quotas.AddHeaders("k", now_s, head);
  for (const auto& [key, value] : head.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST(Quotas, RequestsRunOutAndComeBackEvenly) {
  Quotas quotas;
  const QuotaLimits limits{.requests_per_minute = 6};
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(quotas.Enter("k", limits, 100.0).has_value());
  const auto refused = quotas.Enter("k", limits, 100.0);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->code, "rate_limit_exceeded");
  EXPECT_EQ(refused->retry_after_s, 10.0);
  EXPECT_EQ(HeaderOf(quotas, 100.0, "x-ratelimit-limit-requests"), "6");
  EXPECT_EQ(HeaderOf(quotas, 100.0, "x-ratelimit-remaining-requests"), "0");
  EXPECT_EQ(HeaderOf(quotas, 100.0, "x-ratelimit-reset-requests"), "60.000s");
  EXPECT_TRUE(quotas.Enter("k", limits, 109.0).has_value());
  EXPECT_FALSE(quotas.Enter("k", limits, 110.5).has_value());
  EXPECT_FALSE(quotas.Enter("other", limits, 100.0).has_value()) << "keys do not share";
  EXPECT_EQ(HeaderOf(quotas, 1000.0, "x-ratelimit-remaining-requests"), "6") << "no more than a minute's worth";
}

TEST(Quotas, TokensMayBeOwed) {
  Quotas quotas;
  const QuotaLimits limits{.tokens_per_minute = 60};
  EXPECT_FALSE(quotas.Enter("k", limits, 100.0).has_value());
  quotas.Charge("k", 50, 100.0);
  EXPECT_EQ(HeaderOf(quotas, 100.0, "x-ratelimit-remaining-tokens"), "10");
  EXPECT_FALSE(quotas.Enter("k", limits, 100.0).has_value());
  quotas.Charge("k", 40, 100.0);
  const auto refused = quotas.Enter("k", limits, 100.0);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code, "tokens_per_minute_exceeded");
  EXPECT_EQ(refused->retry_after_s, 31.0);
  EXPECT_EQ(HeaderOf(quotas, 100.0, "x-ratelimit-remaining-tokens"), "0");
  EXPECT_FALSE(quotas.Enter("k", limits, 131.5).has_value());
}

TEST(Quotas, SoManyAtOnce) {
  Quotas quotas;
  const QuotaLimits limits{.max_concurrent = 2};
  EXPECT_FALSE(quotas.Enter("k", limits, 1.0).has_value());
  EXPECT_FALSE(quotas.Enter("k", limits, 1.0).has_value());
  EXPECT_THAT(quotas.Enter("k", limits, 1.0)->message, HasSubstr("2 requests under way"));
  quotas.Leave("k");
  EXPECT_FALSE(quotas.Enter("k", limits, 1.0).has_value());
}

}  // namespace
}  // namespace adit::server
