#include "sched/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sched/test_workload.h"

namespace adit::sched {
namespace {

using testing::HasSubstr;

constexpr std::array kAllPolicies = {Policy::kFcfs, Policy::kPriority, Policy::kSjf,
                                     Policy::kLpm,  Policy::kFair,     Policy::kDeadline};
constexpr std::array kAllBatchings = {Batching::kContinuous, Batching::kStatic};

LengthDistribution Lengths(std::string_view text) { return *LengthDistribution::Parse(text); }

// A pool that is ample for 64 sequences of chat size, unless told otherwise.
SimulatorOptions Usual(int32_t num_pages = 4096) {
  return {.scheduler = {.groups = {.block_size = 16, .windows = {0}},
                        .max_context = 4096,
                        .max_batch_tokens = 512,
                        .max_num_seqs = 64,
                        .max_queued_requests = 0},
          .num_pages = num_pages};
}

SimulationResult Simulated(const Workload& workload, const SimulatorOptions& options) {
  Result<SimulationResult> result = Simulate(workload, options);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  if (!result.ok()) return {};
  EXPECT_EQ(result->leaked_pages, 0);
  return *std::move(result);
}

// The bursty mix of long and short, shared and own, that the properties are tried on.
WorkloadOptions Mixed(uint64_t seed) {
  return {.num_requests = 150,
          .seed = seed,
          .requests_per_s = 20.0,
          .burstiness = 0.3,
          .prompt_tokens = Lengths("lognormal:60:0.9:1:300"),
          .output_tokens = Lengths("lognormal:30:0.9:1:120"),
          .declared_tokens = 60,
          .shared_prefix_tokens = 40,
          .num_prefix_groups = 5,
          .turns = 3,
          .think_s = 0.2,
          .tenants = {{.name = "a", .share = 8.0}, {.name = "b"}, {.name = "c", .weight = 2.0}},
          .num_priorities = 3};
}

// Checks each plan against the limits of the scheduler's options.
void CheckPlan(const Scheduler& scheduler, const StepPlan& plan) {
  const SchedulerOptions& options = scheduler.options();
  int64_t prompts = 0;
  int64_t decodes = 0;
  int64_t prompt_rows = 0;
  for (const PlannedRows& rows : plan.rows) {
    ASSERT_GE(rows.num_tokens, 1);
    ASSERT_EQ(rows.first_position, rows.sequence->num_computed);
    const bool idle = rows.sequence->phase == Phase::kIdle;
    ASSERT_EQ(rows.wants_logits, !idle && rows.num_tokens == rows.sequence->num_pending());
    (rows.sequence->decoding() ? decodes : prompts) += rows.num_tokens;
    prompt_rows += rows.sequence->decoding() ? 0 : 1;
  }
  ASSERT_EQ(prompts, plan.load.prefill_tokens);
  ASSERT_EQ(decodes, plan.load.decodes);
  ASSERT_LE(scheduler.num_running(), options.max_num_seqs);
  if (options.chunked_prefill || prompt_rows > 1) {
    ASSERT_LE(plan.num_tokens(), options.max_batch_tokens);
  }
}

void CheckOutcome(const RequestOutcome& outcome, const WorkloadRequest& request) {
  if (outcome.ending != Ending::kComplete) return;
  ASSERT_EQ(outcome.output_tokens, request.output_tokens);
  ASSERT_EQ(static_cast<int64_t>(outcome.token_gaps.size()), request.output_tokens - 1);
  ASSERT_LE(outcome.arrival_s, outcome.first_step_s);
  ASSERT_LT(outcome.first_step_s, outcome.first_token_s);
  ASSERT_LE(outcome.first_token_s, outcome.finish_s);
  ASSERT_LT(outcome.cached_tokens, outcome.prompt_tokens);
  ASSERT_GE(outcome.chunks, 1);
}

struct Variant {
  Policy policy;
  Batching batching;
  bool chunked_prefill;
  bool prefix_cache;
  std::vector<int64_t> windows;
  int32_t num_pages;
};

std::vector<Variant> AllVariants() {
  std::vector<Variant> variants;
  for (const Policy policy : kAllPolicies) {
    for (const Batching batching : kAllBatchings) {
      for (const int switches : {0, 1, 2, 3}) {
        // Pages for one conversation of the largest size and little more, so that sequences make each other give way.
        variants.push_back({policy, batching, (switches & 1) != 0, (switches & 2) != 0, {0}, 90});
        variants.push_back({policy, batching, (switches & 1) != 0, (switches & 2) != 0, {0, 48}, 180});
      }
    }
  }
  return variants;
}

TEST(Simulator, EveryRequestEndsAndEveryPageReturns) {
  int64_t preemptions = 0;
  for (const Variant& variant : AllVariants()) {
    SimulatorOptions options = Usual(variant.num_pages);
    options.scheduler.policy = variant.policy;
    options.scheduler.batching = variant.batching;
    options.scheduler.chunked_prefill = variant.chunked_prefill;
    options.scheduler.prefix_cache = variant.prefix_cache;
    options.scheduler.groups.windows = variant.windows;
    options.scheduler.max_batch_tokens = 64;
    options.scheduler.max_num_seqs = 24;
    options.on_plan = [](const Scheduler& scheduler, const StepPlan& plan, double) { CheckPlan(scheduler, plan); };
    if (variant.policy == Policy::kDeadline) options.objectives = {.first_token_s = 1.0, .token_interval_s = 0.05};
    SCOPED_TRACE(std::string(PolicyName(variant.policy)) + " " + std::string(BatchingName(variant.batching)) +
                 (variant.chunked_prefill ? " chunked" : " whole") + (variant.prefix_cache ? " cached" : " cold") +
                 (variant.windows.size() > 1 ? " windowed" : ""));
    const Workload workload = Made(Mixed(/*seed=*/preemptions + 1));
    const SimulationResult result = Simulated(workload, options);
    ASSERT_FALSE(testing::Test::HasFailure());
    const LoadSummary& summary = result.summary;
    EXPECT_EQ(summary.ended(Ending::kComplete) + summary.refused() + summary.ended(Ending::kSkipped),
              workload.num_requests());
    EXPECT_EQ(summary.ended(Ending::kQueueFull), 0);
    if (variant.policy != Policy::kDeadline) {
      EXPECT_EQ(summary.ended(Ending::kLate), 0);
    }
    for (int64_t i = 0; i < workload.num_requests(); ++i) {
      CheckOutcome(result.outcomes[static_cast<size_t>(i)], workload.request(i));
    }
    if (variant.policy == Policy::kFair) {
      EXPECT_EQ(summary.fairness.violations, 0) << summary.fairness.largest_gap;
    }
    preemptions += summary.preemptions;
  }
  EXPECT_GT(preemptions, 100);
}

TEST(Simulator, TheSameArgumentsGiveTheSameResult) {
  SimulatorOptions options = Usual(200);
  options.scheduler.max_num_seqs = 16;
  options.scheduler.policy = Policy::kSjf;
  const Workload workload = Made(Mixed(3));
  const SimulationResult one = Simulated(workload, options);
  const SimulationResult other = Simulated(workload, options);
  ASSERT_EQ(one.outcomes.size(), other.outcomes.size());
  for (size_t i = 0; i < one.outcomes.size(); ++i) {
    ASSERT_EQ(one.outcomes[i].first_token_s, other.outcomes[i].first_token_s);
    ASSERT_EQ(one.outcomes[i].finish_s, other.outcomes[i].finish_s);
    ASSERT_EQ(one.outcomes[i].token_gaps, other.outcomes[i].token_gaps);
    ASSERT_EQ(one.outcomes[i].cached_tokens, other.outcomes[i].cached_tokens);
  }
  EXPECT_EQ(one.summary.steps, other.summary.steps);
  EXPECT_EQ(one.summary.output_tokens_per_s, other.summary.output_tokens_per_s);
  EXPECT_EQ(one.summary.pages.mean_waste, other.summary.pages.mean_waste);
}

TEST(Simulator, OneRequestTakesWhatTheCostModelSays) {
  SimulatorOptions options = Usual();
  options.cost = {.base_s = 1.0, .prefill_s = 0.5, .decode_s = 0.25, .context_s = 0.125};
  const Workload workload = Made({.num_requests = 1,
                                  .prompt_tokens = LengthDistribution::Fixed(4),
                                  .output_tokens = LengthDistribution::Fixed(3)});
  const SimulationResult result = Simulated(workload, options);
  const RequestOutcome& outcome = result.outcomes.front();
  EXPECT_EQ(outcome.first_token_s, 1.0 + 4 * 0.5 + 4 * 0.125);
  ASSERT_EQ(outcome.token_gaps.size(), 2u);
  EXPECT_EQ(outcome.token_gaps[0], 1.0f + 0.25f + 5 * 0.125f);
  EXPECT_EQ(outcome.token_gaps[1], 1.0f + 0.25f + 6 * 0.125f);
  EXPECT_EQ(result.summary.steps, 3);
}

TEST(Simulator, ALaterTurnFindsTheEarlierOnesInTheCache) {
  SimulatorOptions options = Usual();
  const Workload workload = Made({.num_requests = 4,
                                  .prompt_tokens = LengthDistribution::Fixed(64),
                                  .output_tokens = LengthDistribution::Fixed(33),
                                  .turns = 4});
  const SimulationResult result = Simulated(workload, options);
  for (int64_t turn = 1; turn < 4; ++turn) {
    const RequestOutcome& outcome = result.outcomes[static_cast<size_t>(turn)];
    EXPECT_EQ(outcome.prompt_tokens, 64 + turn * (64 + 33));
    // All whole pages of what was computed: the answer's last token never was.
    EXPECT_EQ(outcome.cached_tokens, (turn * (64 + 33) - 1) / 16 * 16);
  }
  options.scheduler.prefix_cache = false;
  EXPECT_EQ(Simulated(workload, options).summary.cached_tokens, 0);
}

TEST(Simulator, RefusesWhatTheQueueDoesNotTakeAndWhatFollowsIt) {
  SimulatorOptions options = Usual();
  options.scheduler.max_queued_requests = 10;
  const Workload workload = Made({.num_requests = 60, .turns = 2});
  const LoadSummary summary = Simulated(workload, options).summary;
  EXPECT_EQ(summary.ended(Ending::kQueueFull), 20);
  EXPECT_EQ(summary.ended(Ending::kSkipped), 20);
  EXPECT_EQ(summary.ended(Ending::kComplete), 20);
}

TEST(Simulator, RefusesWhatCanNeverFit) {
  SimulatorOptions options = Usual();
  options.scheduler.max_context = 100;
  const Workload workload = Made(
      {.num_requests = 40, .prompt_tokens = Lengths("uniform:50:150"), .output_tokens = LengthDistribution::Fixed(10)});
  const SimulationResult result = Simulated(workload, options);
  for (const RequestOutcome& outcome : result.outcomes) {
    EXPECT_EQ(outcome.ending, outcome.prompt_tokens + 10 > 100 ? Ending::kTooLong : Ending::kComplete);
  }
  EXPECT_GT(result.summary.ended(Ending::kTooLong), 5);
}

TEST(Simulator, DeadlineGivesUpWhatCannotBeInTimeAndMeetsTheRest) {
  SimulatorOptions options = Usual();
  options.objectives = {.first_token_s = 1.0};
  WorkloadOptions load = {.num_requests = 400,
                          .requests_per_s = 30.0,
                          .prompt_tokens = Lengths("lognormal:200:0.8"),
                          .output_tokens = Lengths("lognormal:60:0.8")};
  options.scheduler.max_num_seqs = 16;
  const Workload workload = Made(load);
  options.scheduler.policy = Policy::kDeadline;
  const LoadSummary by_deadline = Simulated(workload, options).summary;
  EXPECT_GT(by_deadline.ended(Ending::kLate), 0);
  options.scheduler.policy = Policy::kFcfs;
  const LoadSummary by_arrival = Simulated(workload, options).summary;
  EXPECT_EQ(by_arrival.ended(Ending::kLate), 0);
  EXPECT_GT(by_deadline.met_objectives, 2 * by_arrival.met_objectives);
}

// Weights are read once a step, so that a fuller batch costs little more.
SimulatorOptions MemoryBound() {
  SimulatorOptions options = Usual();
  options.scheduler.max_num_seqs = 16;
  options.cost = {.base_s = 10e-3, .prefill_s = 100e-6, .decode_s = 100e-6, .context_s = 0.0};
  return options;
}

TEST(Simulator, ContinuousBatchingIsWorthTwiceTheTokens) {
  SimulatorOptions options = MemoryBound();
  const Workload workload = Made({.num_requests = 256,
                                  .prompt_tokens = Lengths("lognormal:200:0.8:1:2000"),
                                  .output_tokens = Lengths("lognormal:100:0.8:1:1000")});
  const double continuous = Simulated(workload, options).summary.output_tokens_per_s;
  options.scheduler.batching = Batching::kStatic;
  EXPECT_GE(continuous, 2.0 * Simulated(workload, options).summary.output_tokens_per_s);
}

TEST(Simulator, ASharedPrefixIsWorthThriceTheTimeToFirstToken) {
  SimulatorOptions options = Usual();
  const Workload workload = Made({.num_requests = 200,
                                  .requests_per_s = 8.0,
                                  .prompt_tokens = LengthDistribution::Fixed(30),
                                  .output_tokens = LengthDistribution::Fixed(50),
                                  .shared_prefix_tokens = 400});
  const LoadSummary with = Simulated(workload, options).summary;
  EXPECT_GT(with.cached_share, 0.9);
  options.scheduler.prefix_cache = false;
  EXPECT_GE(Simulated(workload, options).summary.ttft_s.mean, 3.0 * with.ttft_s.mean);
}

TEST(Simulator, ChunkedPrefillIsWorthThriceTheInterTokenLatency) {
  SimulatorOptions options = Usual();
  options.scheduler.max_batch_tokens = 128;
  const Workload workload = Made({.num_requests = 120,
                                  .requests_per_s = 1.5,
                                  .prompt_tokens = LengthDistribution::Fixed(2000),
                                  .output_tokens = LengthDistribution::Fixed(100)});
  const LoadSummary with = Simulated(workload, options).summary;
  options.scheduler.chunked_prefill = false;
  EXPECT_GE(Simulated(workload, options).summary.itl_s.p99, 3.0 * with.itl_s.p99);
}

TEST(Simulator, AnIntervalTargetBoundsWhatPromptsAddToSteps) {
  SimulatorOptions options = Usual();
  const Workload workload = Made({.num_requests = 200,
                                  .requests_per_s = 2.0,
                                  .prompt_tokens = LengthDistribution::Fixed(1000),
                                  .output_tokens = LengthDistribution::Fixed(100)});
  const double without = Simulated(workload, options).summary.itl_s.p99;
  options.scheduler.itl_target_s = 0.04;
  const double with = Simulated(workload, options).summary.itl_s.p99;
  EXPECT_GT(without, 0.1);
  EXPECT_LT(with, 0.05);
}

TEST(Simulator, ShortestFirstLowersTheMeanLatency) {
  SimulatorOptions options = MemoryBound();
  options.scheduler.max_num_seqs = 4;
  const Workload workload = Made({.num_requests = 1000,
                                  .prompt_tokens = Lengths("lognormal:200:0.8:1:2000"),
                                  .output_tokens = Lengths("lognormal:100:0.8:1:1000")});
  const double by_arrival = Simulated(workload, options).summary.e2e_s.mean;
  options.scheduler.policy = Policy::kSjf;
  EXPECT_GE(by_arrival, 1.45 * Simulated(workload, options).summary.e2e_s.mean);
}

// Short requests keep coming at just the rate that is served; a long one is among the first.
TEST(Simulator, ShortestFirstStarvesNobody) {
  std::vector<WorkloadRequest> requests;
  for (int i = 0; i < 3000; ++i) {
    const bool is_long = i == 5;
    requests.push_back({.arrival_s = i * 0.09,
                        .parts = {{.content = static_cast<uint64_t>(i), .num_tokens = is_long ? 1000 : 10}},
                        .output_tokens = is_long ? 500 : 10,
                        .max_tokens = is_long ? 500 : 10});
  }
  const Workload workload = *Workload::FromRequests(std::move(requests), {{.name = "all"}}, 1, 1000);
  SimulatorOptions options = Usual();
  options.scheduler.policy = Policy::kSjf;
  options.scheduler.max_num_seqs = 1;
  const SimulationResult result = Simulated(workload, options);
  const RequestOutcome& starved = result.outcomes[5];
  EXPECT_EQ(starved.ending, Ending::kComplete);
  EXPECT_LT(starved.first_step_s, 150.0);
  EXPECT_EQ(result.summary.ended(Ending::kComplete), 3000);
}

TEST(Simulator, LongestPrefixFirstStarvesNobody) {
  std::vector<WorkloadRequest> requests;
  for (int i = 0; i < 2000; ++i) {
    std::vector<PromptPart> parts = {{.content = i == 5 ? 2u : 1u, .num_tokens = 200},
                                     {.content = static_cast<uint64_t>(1000 + i), .num_tokens = 10}};
    requests.push_back({.arrival_s = i * 0.1, .parts = std::move(parts), .output_tokens = 10, .max_tokens = 10});
  }
  const Workload workload = *Workload::FromRequests(std::move(requests), {{.name = "all"}}, 1, 1000);
  SimulatorOptions options = Usual();
  options.scheduler.policy = Policy::kLpm;
  options.scheduler.max_num_seqs = 1;
  const SimulationResult result = Simulated(workload, options);
  EXPECT_EQ(result.outcomes[5].ending, Ending::kComplete);
  EXPECT_LT(result.outcomes[5].first_step_s, 60.0);
}

// Tenants that flood, come and go, send long prompts for short answers and short for long.
Workload AdversarialTenants(uint64_t seed) {
  std::vector<WorkloadRequest> requests;
  const LengthDistribution short_length = Lengths("uniform:1:8");
  const LengthDistribution long_length = Lengths("uniform:100:600");
  const LengthDistribution turn_length = Lengths("uniform:1:40");
  for (uint64_t i = 0; i < 600; ++i) {
    const auto tenant = static_cast<int32_t>(short_length.Draw(seed, i, 1) % 4);
    const bool floods = tenant == 0;
    const bool long_prompt = tenant == 1 || (tenant == 3 && i % 2 == 0);
    // The flood comes at once; tenant 2 in bursts with long breaks; the others as they like.
    double arrival = static_cast<double>(turn_length.Draw(seed, i, 2));
    if (floods) arrival = 0.0;
    if (tenant == 2) arrival = static_cast<double>(10 * (i / 150));
    const int64_t output = (long_prompt ? short_length : long_length).Draw(seed, i, 3) / 4 + 1;
    requests.push_back(
        {.arrival_s = arrival,
         .parts = {{.content = i, .num_tokens = (long_prompt ? long_length : short_length).Draw(seed, i, 4)}},
         .output_tokens = output,
         .max_tokens = output + static_cast<int64_t>(i % 50),
         .tenant = tenant});
  }
  return *Workload::FromRequests(
      std::move(requests), {{.name = "flood"}, {.name = "prompts", .weight = 3.0}, {.name = "bursts"}, {.name = "x"}},
      seed, 1000);
}

TEST(Simulator, TheFairnessBoundHoldsUnderAdversarialArrivals) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Workload workload = AdversarialTenants(seed);
    SimulatorOptions options = Usual(seed % 2 == 0 ? 4096 : 120);
    options.scheduler.policy = Policy::kFair;
    options.scheduler.max_num_seqs = seed % 3 == 0 ? 3 : 24;
    options.scheduler.chunked_prefill = seed % 4 != 0;
    const LoadSummary summary = Simulated(workload, options).summary;
    EXPECT_EQ(summary.ended(Ending::kComplete), workload.num_requests()) << seed;
    EXPECT_EQ(summary.fairness.violations, 0) << seed;
    EXPECT_LE(summary.fairness.largest_gap, summary.fairness.bound) << seed;
    EXPECT_GT(summary.fairness.largest_gap, 0.0) << seed;
  }
}

TEST(Simulator, FairnessKeepsAFloodFromAnotherTenant) {
  std::vector<WorkloadRequest> requests;
  for (uint64_t i = 0; i < 400; ++i) {
    const bool flood = i < 300;
    requests.push_back({.arrival_s = flood ? 0.0 : 0.3 * static_cast<double>(i - 300),
                        .parts = {{.content = i, .num_tokens = 50}},
                        .output_tokens = 50,
                        .max_tokens = 50,
                        .tenant = flood ? 0 : 1});
  }
  const Workload workload = *Workload::FromRequests(std::move(requests), {{.name = "a"}, {.name = "b"}}, 1, 1000);
  SimulatorOptions options = Usual();
  options.scheduler.max_num_seqs = 8;
  const LoadSummary by_arrival = Simulated(workload, options).summary;
  options.scheduler.policy = Policy::kFair;
  const LoadSummary fair = Simulated(workload, options).summary;
  EXPECT_LT(5.0 * fair.tenants[1].ttft_s.mean, by_arrival.tenants[1].ttft_s.mean);
  // Work-conserving: the whole takes no longer.
  EXPECT_NEAR(fair.duration_s, by_arrival.duration_s, 0.05 * by_arrival.duration_s);
}

TEST(Simulator, LowerPriorityNumbersGoFirst) {
  SimulatorOptions options = Usual();
  options.scheduler.policy = Policy::kPriority;
  options.scheduler.max_num_seqs = 8;
  const Workload workload = Made({.num_requests = 200, .num_priorities = 2});
  const SimulationResult result = Simulated(workload, options);
  double sums[2] = {};
  int counts[2] = {};
  for (int64_t i = 0; i < workload.num_requests(); ++i) {
    const auto priority = static_cast<size_t>(workload.request(i).priority);
    sums[priority] += result.outcomes[static_cast<size_t>(i)].first_token_s;
    ++counts[priority];
  }
  EXPECT_LT(2.0 * sums[0] / counts[0], sums[1] / counts[1]);
}

TEST(Simulator, PagesOfManySequencesAreWellFilled) {
  SimulatorOptions options = Usual();
  const Workload workload = Made({.num_requests = 300,
                                  .prompt_tokens = Lengths("lognormal:200:0.8:1:2000"),
                                  .output_tokens = Lengths("lognormal:100:0.8:1:1000")});
  const LoadSummary summary = Simulated(workload, options).summary;
  EXPECT_LT(summary.pages.waste_at_peak, 0.04);
  EXPECT_LT(summary.pages.mean_waste, 0.04);
  EXPECT_GT(summary.pages.max_utilisation, 0.1);
}

TEST(Simulator, ProgressRisesToTheWhole) {
  SimulatorOptions options = Usual();
  double last = 0.0;
  options.progress = [&](double share) {
    ASSERT_GE(share, last);
    last = share;
  };
  Simulated(Made(Mixed(4)), options);
  EXPECT_EQ(last, 1.0);
}

TEST(Simulator, CostTexts) {
  const Result<StepCost> cost = ParseStepCost("8,400,0.5,100");
  ASSERT_TRUE(cost.ok());
  EXPECT_DOUBLE_EQ(cost->base_s, 8e-3);
  EXPECT_DOUBLE_EQ(cost->prefill_s, 400e-6);
  EXPECT_DOUBLE_EQ(cost->decode_s, 0.5e-6);
  EXPECT_DOUBLE_EQ(cost->context_s, 100e-9);
  for (const char* text : {"", "1,2,3", "1,2,3,4,5", "1,2,3,-4", "0,0,0,0", "a,2,3,4", "1,2,3,"}) {
    EXPECT_THAT(ParseStepCost(text).status().message(), HasSubstr("BASE_MS,PREFILL_US")) << text;
  }
}

TEST(Simulator, WrongOptionsAreErrors) {
  const Workload workload = Made({.num_requests = 1});
  SimulatorOptions options = Usual();
  options.num_pages = 0;
  EXPECT_EQ(Simulate(workload, options).status().code(), StatusCode::kInvalidArgument);
  options = Usual();
  options.scheduler.max_num_seqs = 0;
  EXPECT_EQ(Simulate(workload, options).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace adit::sched
