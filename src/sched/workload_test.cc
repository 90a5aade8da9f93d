#include "sched/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sched/arrival_feed.h"
#include "sched/sequence.h"
#include "sched/test_workload.h"

namespace adit::sched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> NewTokens(const Workload& workload, int64_t index) {
  std::vector<int32_t> tokens;
  workload.AppendNewTokens(index, tokens);
  return tokens;
}

WorkloadOptions Varied() {
  return {.num_requests = 60,
          .seed = 9,
          .requests_per_s = 5.0,
          .burstiness = 0.5,
          .prompt_tokens = *LengthDistribution::Parse("lognormal:40:0.8"),
          .output_tokens = *LengthDistribution::Parse("uniform:1:50"),
          .shared_prefix_tokens = 10,
          .num_prefix_groups = 3,
          .turns = 3,
          .think_s = 2.0,
          .tenants = {{.name = "a", .share = 3.0}, {.name = "b"}},
          .num_priorities = 4,
          .vocab_size = 100};
}

TEST(Workload, RequestsDoNotDependOnHowManyThereAre) {
  WorkloadOptions options = Varied();
  const Workload longer = Made(options);
  options.num_requests = 31;
  const Workload shorter = Made(options);
  for (int64_t i = 0; i < shorter.num_requests(); ++i) {
    const WorkloadRequest& a = shorter.request(i);
    const WorkloadRequest& b = longer.request(i);
    EXPECT_EQ(a.follows, b.follows);
    EXPECT_EQ(a.arrival_s, b.arrival_s);
    EXPECT_EQ(a.think_s, b.think_s);
    EXPECT_EQ(a.output_tokens, b.output_tokens);
    EXPECT_EQ(a.tenant, b.tenant);
    EXPECT_EQ(a.priority, b.priority);
    EXPECT_EQ(NewTokens(shorter, i), NewTokens(longer, i));
    EXPECT_EQ(shorter.AnswerToken(i, 7), longer.AnswerToken(i, 7));
  }
}

TEST(Workload, AnotherSeedIsAnotherWorkload) {
  WorkloadOptions options = Varied();
  const Workload one = Made(options);
  ++options.seed;
  const Workload other = Made(options);
  EXPECT_NE(NewTokens(one, 0), NewTokens(other, 0));
  EXPECT_NE(one.request(3).arrival_s, other.request(3).arrival_s);
}

TEST(Workload, AllAtOnceArrivesAtZero) {
  const Workload workload = Made({.num_requests = 5});
  for (const WorkloadRequest& request : workload.requests()) EXPECT_EQ(request.arrival_s, 0.0);
}

// Mean and squared coefficient of variation of the gaps.
void CheckGaps(double rate, double burstiness) {
  const Workload workload = Made({.num_requests = 40'001, .requests_per_s = rate, .burstiness = burstiness});
  double squares = 0.0;
  for (int64_t i = 1; i < workload.num_requests(); ++i) {
    const double gap = workload.request(i).arrival_s - workload.request(i - 1).arrival_s;
    ASSERT_GE(gap, 0.0);
    squares += gap * gap;
  }
  const double count = static_cast<double>(workload.num_requests() - 1);
  const double mean = workload.requests().back().arrival_s / count;
  EXPECT_NEAR(mean * rate, 1.0, 0.05) << burstiness;
  const double variation = squares / count / (mean * mean) - 1.0;
  EXPECT_NEAR(variation * burstiness, 1.0, 0.1) << burstiness;
}

TEST(Workload, GapsHaveTheRateAndTheBurstiness) {
  CheckGaps(20.0, 1.0);
  CheckGaps(3.0, 0.25);
  CheckGaps(1000.0, 4.0);
}

TEST(Workload, PromptsOfAGroupBeginAlikeAndGoOnApart) {
  const Workload workload = Made({.num_requests = 40,
                                  .prompt_tokens = LengthDistribution::Fixed(20),
                                  .shared_prefix_tokens = 30,
                                  .num_prefix_groups = 2});
  std::vector<std::vector<int32_t>> beginnings;
  std::vector<std::vector<int32_t>> ends;
  for (int64_t i = 0; i < workload.num_requests(); ++i) {
    const std::vector<int32_t> tokens = NewTokens(workload, i);
    ASSERT_EQ(tokens.size(), 50u);
    beginnings.emplace_back(tokens.begin(), tokens.begin() + 30);
    ends.emplace_back(tokens.begin() + 30, tokens.end());
  }
  const auto num_different = [](std::vector<std::vector<int32_t>> lists) {
    std::sort(lists.begin(), lists.end());
    return std::unique(lists.begin(), lists.end()) - lists.begin();
  };
  EXPECT_EQ(num_different(beginnings), 2);
  EXPECT_EQ(num_different(ends), 40);
}

TEST(Workload, TenantsHaveTheirShares) {
  const Workload workload = Made({.num_requests = 10'000, .tenants = {{.name = "a", .share = 3.0}, {.name = "b"}}});
  const auto of_a = std::count_if(workload.requests().begin(), workload.requests().end(),
                                  [](const WorkloadRequest& request) { return request.tenant == 0; });
  EXPECT_NEAR(static_cast<double>(of_a), 7500.0, 150.0);
}

TEST(Workload, TokensFillTheVocabularyEvenly) {
  const Workload workload =
      Made({.num_requests = 1, .prompt_tokens = LengthDistribution::Fixed(10'000), .vocab_size = 5});
  std::vector<int64_t> counts(5, 0);
  for (const int32_t token : NewTokens(workload, 0)) ++counts.at(static_cast<size_t>(token));
  for (const int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 2000.0, 200.0);
}

TEST(Workload, TurnsFollowEachOther) {
  const Workload workload = Made({.num_requests = 5, .turns = 2, .think_s = 1.0});
  std::vector<int64_t> follows;
  for (const WorkloadRequest& request : workload.requests()) follows.push_back(request.follows);
  EXPECT_THAT(follows, ElementsAre(-1, 0, -1, 2, -1));
  EXPECT_GT(workload.request(1).think_s, 0.0);
}

TEST(Workload, DeclaresWhatItIsToldTo) {
  const Workload workload =
      Made({.num_requests = 50, .output_tokens = *LengthDistribution::Parse("uniform:1:200"), .declared_tokens = 100});
  for (const WorkloadRequest& request : workload.requests()) {
    EXPECT_EQ(request.max_tokens, std::max<int64_t>(100, request.output_tokens));
  }
}

TEST(Workload, WrongOptionsSayWhatIsWrong) {
  const auto message = [](const WorkloadOptions& options) {
    const Result<Workload> workload = Workload::Create(options);
    return workload.ok() ? std::string() : workload.status().message();
  };
  EXPECT_EQ(message({.num_requests = 0}), "workload: the number of requests is 0; it is in 1..10000000");
  EXPECT_EQ(message({.requests_per_s = 0.0}), "workload: the rate is 0 requests/s; it is above 0, or inf");
  EXPECT_THAT(message({.requests_per_s = std::nan("")}), HasSubstr("the rate is nan"));
  EXPECT_THAT(message({.burstiness = 0.0}), HasSubstr("burstiness is 0"));
  EXPECT_THAT(message({.shared_prefix_tokens = -1}), HasSubstr("the shared prefix is -1"));
  EXPECT_THAT(message({.turns = 0}), HasSubstr("the number of turns is 0"));
  EXPECT_THAT(message({.think_s = -1.0}), HasSubstr("the think time is -1 s"));
  EXPECT_THAT(message({.tenants = {}}), HasSubstr("no tenant"));
  EXPECT_THAT(message({.tenants = {{.name = "x", .share = 0.0}}}), HasSubstr("tenant 'x' has share 0"));
  EXPECT_THAT(message({.vocab_size = 0}), HasSubstr("the vocabulary is 0"));
}

TEST(Workload, TracesAreChecked) {
  const auto message = [](const WorkloadRequest& request) {
    const Result<Workload> workload = Workload::FromRequests({request}, {{.name = "t"}}, 0, 100);
    return workload.ok() ? std::string() : workload.status().message();
  };
  const std::vector<PromptPart> parts = {{.content = 1, .num_tokens = 3}};
  EXPECT_EQ(message({.parts = parts}), "");
  EXPECT_THAT(message({.follows = 0, .parts = parts}), HasSubstr("request 0 does not come after"));
  EXPECT_THAT(message({.arrival_s = -1.0, .parts = parts}), HasSubstr("arrives at -1"));
  EXPECT_THAT(message({.arrival_s = std::numeric_limits<double>::infinity(), .parts = parts}), HasSubstr("inf"));
  EXPECT_THAT(message({.parts = {}}), HasSubstr("parts of 0"));
  EXPECT_THAT(message({.parts = {{.content = 1, .num_tokens = 0}}}), HasSubstr("prompt of tokens 0"));
  EXPECT_THAT(message({.parts = parts, .output_tokens = 0}), HasSubstr("answer of tokens 0"));
  EXPECT_THAT(message({.parts = parts, .tenant = 1}), HasSubstr("no tenant such as 1"));
}

TEST(Workload, TenantTexts) {
  const Result<std::vector<WorkloadTenant>> three = ParseTenants("3");
  ASSERT_TRUE(three.ok());
  ASSERT_EQ(three->size(), 3u);
  EXPECT_EQ((*three)[2].name, "t2");
  EXPECT_EQ((*three)[2].share, 1.0);
  const Result<std::vector<WorkloadTenant>> named = ParseTenants("chat:3,batch:1:0.5");
  ASSERT_TRUE(named.ok());
  ASSERT_EQ(named->size(), 2u);
  EXPECT_EQ((*named)[0].name, "chat");
  EXPECT_EQ((*named)[0].share, 3.0);
  EXPECT_EQ((*named)[0].weight, 1.0);
  EXPECT_EQ((*named)[1].weight, 0.5);
  for (const char* text : {"0", "1.5", "1001", "", "a:", "a:0", "a:1:2:3", "a,a", "a,,b", "a:x"}) {
    const Result<std::vector<WorkloadTenant>> wrong = ParseTenants(text);
    EXPECT_FALSE(wrong.ok()) << text;
    EXPECT_THAT(wrong.status().message(), HasSubstr("tenants '")) << text;
  }
}

TEST(ArrivalFeed, TakesRequestsInTheOrderOfArrival) {
  const Workload workload = Made({.num_requests = 100, .requests_per_s = 10.0});
  ArrivalFeed feed(workload);
  double last = 0.0;
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_GE(feed.NextArrival(), last);
    last = feed.NextArrival();
    EXPECT_EQ(feed.Take(), i);
  }
  EXPECT_EQ(feed.NextArrival(), kNever);
}

TEST(ArrivalFeed, ALaterTurnComesAfterTheAnswerAndHoldsIt) {
  const Workload workload =
      Made({.num_requests = 2, .prompt_tokens = LengthDistribution::Fixed(4), .turns = 2, .think_s = 1.0});
  ArrivalFeed feed(workload);
  ASSERT_EQ(feed.Take(), 0);
  std::vector<int32_t> tokens = feed.TakePrompt(0);
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(feed.NextArrival(), kNever);
  tokens.push_back(17);
  feed.Complete(0, tokens, 3.0);
  EXPECT_EQ(feed.NextArrival(), 3.0 + workload.request(1).think_s);
  ASSERT_EQ(feed.Take(), 1);
  const std::vector<int32_t> second = feed.TakePrompt(1);
  ASSERT_EQ(second.size(), 9u);
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), second.begin()));
}

TEST(ArrivalFeed, NothingComesAfterWhatFailed) {
  const Workload workload = Made({.num_requests = 4, .turns = 4});
  ArrivalFeed feed(workload);
  ASSERT_EQ(feed.Take(), 0);
  EXPECT_TRUE(feed.HasFollowers(0));
  EXPECT_FALSE(feed.HasFollowers(3));
  EXPECT_THAT(feed.Drop(0), ElementsAre(1, 2, 3));
  EXPECT_EQ(feed.NextArrival(), kNever);
}

}  // namespace
}  // namespace adit::sched
