#include "sched/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "sched/test_machine.h"

namespace adit::sched {
namespace {

using testing::HasSubstr;

std::vector<int32_t> Tokens(int64_t count, int32_t start = 0) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), start);
  return tokens;
}

SchedulerOptions SmallOptions() {
  return {.groups = {.block_size = 4, .windows = {0}}, .max_context = 256, .max_batch_tokens = 16, .max_num_seqs = 4};
}

TEST(Scheduler, RunsAPromptInChunksAndThenTokenByToken) {
  TestMachine machine(SmallOptions(), 64);
  Sequence* sequence = *machine.Submit({.prompt = Tokens(40), .max_tokens = 3});
  const auto id = sequence->id;
  for (const int64_t tokens : {16, 16, 8, 1, 1}) {
    ASSERT_TRUE(machine.Step());
    EXPECT_EQ(machine.last_plan->num_tokens(), tokens);
  }
  EXPECT_FALSE(machine.Step());
  EXPECT_EQ(machine.answers().at(id), machine.Expected(Tokens(40), 3));
}

TEST(Scheduler, AFinishedSequencesPlaceIsTakenInTheNextStep) {
  SchedulerOptions options = SmallOptions();
  options.max_num_seqs = 2;
  TestMachine machine(options, 64);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(machine.Submit({.prompt = Tokens(4, i * 10), .max_tokens = i == 0 ? 2 : 9}).ok());
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(machine.last_plan->rows.size(), 2u);
  ASSERT_TRUE(machine.Step());  // the first ends here
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(machine.last_plan->rows.size(), 2u);
  EXPECT_EQ(machine.last_plan->load.prefill_tokens, 4);
}

TEST(Scheduler, StaticBatchesRunWholeUntilTheirLastMemberEnds) {
  SchedulerOptions options = SmallOptions();
  options.max_num_seqs = 2;
  options.batching = Batching::kStatic;
  TestMachine machine(options, 64);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(machine.Submit({.prompt = Tokens(4, i * 10), .max_tokens = i == 0 ? 2 : 6}).ok());
  for (int step = 0; step < 6; ++step) {
    ASSERT_TRUE(machine.Step());
    EXPECT_EQ(machine.last_plan->rows.size(), 2u) << step;
    const auto& rows = machine.last_plan->rows;
    EXPECT_EQ(std::ranges::count(rows, true, &PlannedRows::wants_logits), step < 2 ? 2 : 1) << step;
    EXPECT_EQ(machine.scheduler().num_running(), step == 0 ? 2 : step < 5 ? 1 : 0) << step;
  }
  EXPECT_EQ(machine.scheduler().page_use().held_tokens, 0);
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(machine.last_plan->load.prefill_tokens, 4);
  EXPECT_EQ(machine.last_plan->rows.size(), 1u);
}

TEST(Scheduler, WhatHasEndedInAStaticBatchGivesItsPagesToWhatRuns) {
  SchedulerOptions options = SmallOptions();
  options.batching = Batching::kStatic;
  options.prefix_cache = false;
  TestMachine machine(options, 8);  // of 4 tokens
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(12), .max_tokens = 2}).ok());
  Sequence* longer = *machine.Submit({.prompt = Tokens(6, 40), .max_tokens = 20});
  const int64_t id = longer->id;
  size_t most_rows = 0;
  while (!machine.live().empty()) {
    ASSERT_TRUE(machine.Step());
    if (machine.live().size() == 1) most_rows = std::max(most_rows, machine.last_plan->rows.size());
  }
  EXPECT_EQ(most_rows, 2u);
  EXPECT_EQ(machine.last_plan->rows.size(), 1u);
  EXPECT_EQ(machine.scheduler().counters().preemptions, 0);
  EXPECT_EQ(machine.answers().at(id), machine.Expected(Tokens(6, 40), 20));
}

TEST(Scheduler, CountsWhatStepsAreMadeOf) {
  TestMachine machine(SmallOptions(), 64);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(9), .max_tokens = 3}).ok());
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(4, 40), .max_tokens = 2}).ok());
  ASSERT_TRUE(machine.Step());
  ASSERT_EQ(machine.last_plan->num_tokens(), 13);
  machine.RunAll(10);
  // A step of 13 tokens, one of 2 and one of 1.
  const SchedulerCounters& counters = machine.scheduler().counters();
  EXPECT_EQ(counters.steps, 3);
  EXPECT_EQ(counters.step_tokens.sum, 16.0);
  EXPECT_EQ(counters.step_sequences, 5);
  EXPECT_EQ(counters.last_step_sequences, 1);
  EXPECT_EQ(counters.longest_sequence, 11) << "the last token of an answer takes part in no step";
  std::array<int64_t, kStepTokenBounds.size() + 1> by_tokens = {1, 1, 1};  // to 1, 8, 16
  EXPECT_EQ(counters.step_tokens.counts, by_tokens);
}

SchedulerOptions TwoTenants() {
  SchedulerOptions options = SmallOptions();
  options.tenants = {{.name = "a"}, {.name = "b"}};
  return options;
}

TEST(Scheduler, ATenantThatHoldsWhatItMayWaitsForItself) {
  TestMachine machine(TwoTenants(), 64);
  const auto submit = [&](int32_t start, int32_t tenant, int64_t limit) {
    Sequence* sequence =
        *machine.Submit({.prompt = Tokens(8, start), .max_tokens = 4, .tenant = tenant, .tenant_tokens = limit});
    return sequence->id;
  };
  // Two of 12 tokens at most, with a page of 4 tokens to grow by for each, and the third does not fit.
  const int64_t first = submit(0, 0, 30);
  submit(10, 0, 30);
  const int64_t third = submit(20, 0, 30);
  const int64_t other = submit(30, 1, 0);
  ASSERT_TRUE(machine.Step());
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(machine.scheduler().num_running(), 3) << "who comes later, of another tenant, need not wait";
  EXPECT_EQ(machine.scheduler().num_held_back(), 1);
  EXPECT_EQ(machine.scheduler().num_waiting(), 1);
  EXPECT_EQ(machine.live().at(third)->phase, Phase::kWaiting);
  while (!machine.answers().contains(first)) ASSERT_TRUE(machine.Step());
  machine.RunAll(20);
  EXPECT_EQ(machine.answers().at(third), machine.Expected(Tokens(8, 20), 4));
  EXPECT_EQ(machine.answers().at(other), machine.Expected(Tokens(8, 30), 4));
  EXPECT_EQ(machine.scheduler().num_held_back(), 0);
}

TEST(Scheduler, AnswersOfATenantThatGrowTooLongGiveWayToOneAnother) {
  TestMachine machine(TwoTenants(), 64);
  for (const int32_t start : {0, 10}) {
    ASSERT_TRUE(machine.Submit({.prompt = Tokens(4, start), .max_tokens = 20, .tenant_tokens = 25}).ok());
  }
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(machine.scheduler().num_running(), 2);
  machine.RunAll(60);
  EXPECT_EQ(machine.scheduler().counters().preemptions, 1);
  EXPECT_EQ(machine.answers().at(0), machine.Expected(Tokens(4, 0), 20));
  EXPECT_EQ(machine.answers().at(1), machine.Expected(Tokens(4, 10), 20));
}

TEST(Scheduler, WhatATenantMayNeverHoldIsRefused) {
  TestMachine machine(TwoTenants(), 64);
  const auto refused = machine.Submit({.prompt = Tokens(20), .max_tokens = 11, .tenant_tokens = 30});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("may hold 30 tokens of the cache; 31 were requested"));
  EXPECT_TRUE(machine.Submit({.prompt = Tokens(20), .max_tokens = 10, .tenant_tokens = 30}).ok());
}

TEST(Scheduler, OneHeldBackCanEndOrPause) {
  TestMachine machine(TwoTenants(), 64);
  std::vector<Sequence*> sequences;
  for (const int32_t start : {0, 10, 20}) {
    sequences.push_back(*machine.Submit({.prompt = Tokens(8, start), .max_tokens = 4, .tenant_tokens = 14}));
  }
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(machine.scheduler().num_held_back(), 2);
  machine.Cancel(sequences[1]->id);
  machine.scheduler().SetPaused(*sequences[2], true);
  EXPECT_EQ(machine.scheduler().num_held_back(), 0);
  machine.scheduler().SetPaused(*sequences[2], false);
  machine.RunAll(20);
  EXPECT_EQ(machine.answers().at(2), machine.Expected(Tokens(8, 20), 4));
}

TEST(Scheduler, WithoutChunksAPromptRunsWholeBesideTheDecodes) {
  SchedulerOptions options = SmallOptions();
  options.chunked_prefill = false;
  TestMachine machine(options, 64);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(4), .max_tokens = 9}).ok());
  ASSERT_TRUE(machine.Step());
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(100, 100), .max_tokens = 2}).ok());
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(machine.last_plan->load.decodes, 1);
  EXPECT_EQ(machine.last_plan->load.prefill_tokens, 100);
}

TEST(Scheduler, SharesACachedPrefixToTheTokenAndCopiesThePageWhereItEnds) {
  TestMachine machine(SmallOptions(), 64);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(30), .max_tokens = 2}).ok());
  machine.RunAll(20);
  std::vector<int32_t> prompt = Tokens(22);
  prompt.insert(prompt.end(), {90, 91, 92});
  Sequence* sequence = *machine.Submit({.prompt = prompt, .max_tokens = 4});
  const int64_t id = sequence->id;
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(sequence->cached_tokens, 22);
  EXPECT_EQ(sequence->miss_position, 22);
  EXPECT_EQ(machine.last_plan->copies.size(), 1u);
  machine.RunAll(20);
  EXPECT_EQ(machine.answers().at(id), machine.Expected(prompt, 4));
}

TEST(Scheduler, OtherSaltsShareNothing) {
  TestMachine machine(SmallOptions(), 64);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(30), .max_tokens = 1, .salt = 1}).ok());
  machine.RunAll(20);
  Sequence* sequence = *machine.Submit({.prompt = Tokens(30), .max_tokens = 2, .salt = 2});
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(sequence->cached_tokens, 0);
  EXPECT_EQ(sequence->miss_reason, kv::MissReason::kSaltedApart);
}

TEST(Scheduler, RefusesWhatCanNeverRunWithTheNumbers) {
  TestMachine machine(SmallOptions(), 16);  // 64 tokens
  const auto refusal = [&](RequestSpec spec) { return machine.Submit(std::move(spec)).status(); };
  EXPECT_EQ(machine.scheduler().max_context(), 64);
  const Status too_long = refusal({.prompt = Tokens(60), .max_tokens = 5});
  EXPECT_EQ(too_long.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(too_long.message(), HasSubstr("64 tokens here; 65 were requested (60 in the prompt, 5 in the answer)"));
  EXPECT_EQ(refusal({.prompt = Tokens(64), .max_tokens = 0}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.prompt = {}, .max_tokens = 1}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.prompt = Tokens(1), .max_tokens = 1, .num_sequences = 5}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.prompt = Tokens(1), .max_tokens = 1, .tenant = 1}).code(), StatusCode::kInvalidArgument);
  const Status side_by_side = refusal({.prompt = Tokens(10), .max_tokens = 30, .num_sequences = 2, .lockstep = true});
  EXPECT_THAT(side_by_side.message(), HasSubstr("20 pages; the cache has 16"));
  EXPECT_TRUE(refusal({.prompt = Tokens(60), .max_tokens = 4}).ok());
  machine.RunAll(100);
}

TEST(Scheduler, QueueLimitsCountRequestsAndTokens) {
  SchedulerOptions options = SmallOptions();
  options.max_queued_requests = 3;
  options.max_queued_tokens = 50;
  TestMachine machine(options, 64);
  EXPECT_TRUE(machine.Submit({.prompt = Tokens(20), .max_tokens = 1}).ok());
  EXPECT_TRUE(machine.Submit({.prompt = Tokens(30), .max_tokens = 1}).ok());
  EXPECT_EQ(machine.Submit({.prompt = Tokens(1), .max_tokens = 1}).status().code(), StatusCode::kResourceExhausted);
  machine.RunAll(100);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(machine.Submit({.prompt = Tokens(2), .max_tokens = 1}).ok());
  const Status full = machine.Submit({.prompt = Tokens(1), .max_tokens = 1}).status();
  EXPECT_THAT(full.message(), HasSubstr("3 requests wait, the limit is 3"));
}

TEST(Scheduler, PriorityMakesLowerOnesGiveWayAndLosesNothing) {
  SchedulerOptions options = SmallOptions();
  options.policy = Policy::kPriority;
  options.max_num_seqs = 1;
  TestMachine machine(options, 64);
  Sequence* low = *machine.Submit({.prompt = Tokens(20), .max_tokens = 10, .priority = 5});
  const int64_t low_id = low->id;
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(machine.Step());
  Sequence* high = *machine.Submit({.prompt = Tokens(20, 50), .max_tokens = 3, .priority = 1});
  const int64_t high_id = high->id;
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(low->phase, Phase::kWaiting);
  EXPECT_EQ(low->num_preemptions, 1);
  while (!machine.answers().contains(high_id)) ASSERT_TRUE(machine.Step());
  ASSERT_TRUE(machine.Step());
  EXPECT_GE(low->num_computed, 20);  // found again in the prefix cache
  machine.RunAll(50);
  EXPECT_EQ(machine.answers().at(low_id), machine.Expected(Tokens(20), 10));
}

TEST(Scheduler, ASequenceThatOutgrowsTheShortLengthBeginsAnew) {
  SchedulerOptions options = SmallOptions();
  options.short_length = 20;
  TestMachine machine(options, 64);
  Sequence* sequence = *machine.Submit({.prompt = Tokens(15), .max_tokens = 12});
  const int64_t id = sequence->id;
  while (sequence->num_tokens() <= 20) ASSERT_TRUE(machine.Step());
  EXPECT_FALSE(sequence->is_long);
  ASSERT_TRUE(machine.Step());
  EXPECT_TRUE(sequence->is_long);
  EXPECT_LE(sequence->num_computed, options.max_batch_tokens);  // nothing of what it had
  machine.RunAll(50);
  EXPECT_EQ(machine.answers().at(id), machine.Expected(Tokens(15), 12));
}

TEST(Scheduler, CachedPrefixesServeSequencesOfTheirOwnKind) {
  SchedulerOptions options = SmallOptions();
  options.short_length = 20;
  TestMachine machine(options, 64);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(16), .max_tokens = 1}).ok());
  machine.RunAll(20);
  Sequence* longer = *machine.Submit({.prompt = Tokens(30), .max_tokens = 4});
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(longer->cached_tokens, 0);
  machine.RunAll(20);
  Sequence* as_long = *machine.Submit({.prompt = Tokens(32), .max_tokens = 4});
  ASSERT_TRUE(machine.Step());
  EXPECT_GE(as_long->cached_tokens, 28);
  machine.RunAll(20);
}

TEST(Scheduler, ShortestJobFirstTakesMaxTokensAtItsWord) {
  SchedulerOptions options = SmallOptions();
  options.policy = Policy::kSjf;
  options.max_num_seqs = 1;
  TestMachine machine(options, 64);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(4), .max_tokens = 20}).ok());
  ASSERT_TRUE(machine.Step());
  Sequence* longer = *machine.Submit({.prompt = Tokens(4, 20), .max_tokens = 100});
  Sequence* shorter = *machine.Submit({.prompt = Tokens(4, 40), .max_tokens = 5});
  while (shorter->phase == Phase::kWaiting) ASSERT_TRUE(machine.Step());
  EXPECT_EQ(longer->phase, Phase::kWaiting);
}

TEST(Scheduler, LongestPrefixMatchGoesFirstButPassesNobodyOverForEver) {
  SchedulerOptions options = SmallOptions();
  options.policy = Policy::kLpm;
  options.max_num_seqs = 1;
  TestMachine machine(options, 200);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(40), .max_tokens = 2}).ok());
  machine.RunAll(20);
  Sequence* stranger = *machine.Submit({.prompt = Tokens(40, 100), .max_tokens = 2});
  Sequence* friend_of_cache = *machine.Submit({.prompt = Tokens(40), .max_tokens = 2});
  ASSERT_TRUE(machine.Step());
  EXPECT_EQ(friend_of_cache->phase, Phase::kRunning);
  EXPECT_EQ(stranger->phase, Phase::kWaiting);
  int steps = 0;
  while (stranger->phase == Phase::kWaiting && steps < 2000) {
    if (machine.scheduler().num_waiting() < 2) {
      ASSERT_TRUE(machine.Submit({.prompt = Tokens(40), .max_tokens = 1}).ok());
    }
    machine.Step();
    ++steps;
  }
  EXPECT_LT(steps, 1000);
}

TEST(Scheduler, FairSharesGoByWeightAndKeepTheirBound) {
  SchedulerOptions options = SmallOptions();
  options.policy = Policy::kFair;
  options.tenants = {{.name = "a"}, {.name = "b", .weight = 3.0}};
  options.prefix_cache = false;
  options.max_queued_requests = 0;
  TestMachine machine(options, 64);
  std::vector<int64_t> output(2);
  machine.on_token = [&](Sequence& sequence) { ++output[static_cast<size_t>(sequence.spec.tenant)]; };
  for (int i = 0; i < 400; ++i) {
    for (const int32_t tenant : {0, 1}) {
      ASSERT_TRUE(machine.Submit({.prompt = Tokens(8, i), .max_tokens = 8, .tenant = tenant}).ok());
    }
  }
  for (int step = 0; step < 600; ++step) machine.Step();
  EXPECT_NEAR(static_cast<double>(output[1]) / static_cast<double>(output[0]), 3.0, 0.3);
  EXPECT_GT(machine.scheduler().fair_share().largest_gap(), 0.0);
  EXPECT_EQ(machine.scheduler().fair_share().num_violations(), 0);
}

TEST(Scheduler, DeadlinesGoByLeastSlackAndWhatIsHopelessIsTold) {
  SchedulerOptions options = SmallOptions();
  options.policy = Policy::kDeadline;
  options.max_num_seqs = 1;
  TestMachine machine(options, 64);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(4), .max_tokens = 60}).ok());
  ASSERT_TRUE(machine.Step());
  Sequence* late =
      *machine.Submit({.prompt = Tokens(4, 10), .max_tokens = 2, .first_token_by_s = machine.now_s() + 90});
  Sequence* soon =
      *machine.Submit({.prompt = Tokens(4, 20), .max_tokens = 2, .first_token_by_s = machine.now_s() + 50});
  ASSERT_TRUE(
      machine.Submit({.prompt = Tokens(4, 30), .max_tokens = 2, .first_token_by_s = machine.now_s() + 0.03}).ok());
  EXPECT_EQ(machine.Submit({.prompt = Tokens(100), .max_tokens = 2, .first_token_by_s = machine.now_s() + 1e-6})
                .status()
                .code(),
            StatusCode::kDeadlineExceeded);
  while (soon->phase == Phase::kWaiting) ASSERT_TRUE(machine.Step());
  EXPECT_EQ(late->phase, Phase::kWaiting);
  EXPECT_EQ(machine.num_hopeless, 1);
  machine.RunAll(300);
}

TEST(Scheduler, ATargetOfTheIntervalShrinksChunks) {
  SchedulerOptions options = SmallOptions();
  options.max_batch_tokens = 400;
  options.max_context = 4000;
  options.itl_target_s = 6e-3;  // 1 ms, 0.2 ms for a decode, and so 48 rows of prompts at 0.1 ms
  TestMachine machine(options, 1024);
  ASSERT_TRUE(machine.Submit({.prompt = Tokens(350), .max_tokens = 200}).ok());
  for (int32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(machine.Submit({.prompt = Tokens(700, 1000 * (i + 1)), .max_tokens = 3}).ok());
  }
  int64_t largest_late_step = 0;
  for (int step = 0; step < 60; ++step) {
    ASSERT_TRUE(machine.Step());
    if (step > 20 && machine.last_plan->load.decodes > 0) {
      largest_late_step = std::max(largest_late_step, machine.last_plan->load.prefill_tokens);
    }
  }
  EXPECT_GE(largest_late_step, 30);
  EXPECT_LE(largest_late_step, 56);
}

TEST(Scheduler, APausedSequenceGetsNoStepsAndGoesOnWhereItWas) {
  TestMachine machine(SmallOptions(), 64);
  Sequence* sequence = *machine.Submit({.prompt = Tokens(10), .max_tokens = 6});
  const int64_t id = sequence->id;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(machine.Step());
  machine.scheduler().SetPaused(*sequence, true);
  EXPECT_FALSE(machine.Step());
  machine.scheduler().SetPaused(*sequence, false);
  machine.RunAll(20);
  EXPECT_EQ(machine.answers().at(id), machine.Expected(Tokens(10), 6));
}

TEST(Scheduler, ForksShareTheirPagesUntilTheyDiffer) {
  TestMachine machine(SmallOptions(), 64);
  Sequence* parent = *machine.Submit({.prompt = Tokens(14), .max_tokens = 5, .num_sequences = 3});
  std::vector<int64_t> ids = {parent->id};
  machine.on_token = [&](Sequence& sequence) {
    if (sequence.seats > 1) {
      const int64_t before = machine.pool().num_free();
      ids.push_back(machine.Fork(sequence).id);
      EXPECT_EQ(machine.pool().num_free(), before);
    }
  };
  machine.RunAll(30);
  ASSERT_EQ(ids.size(), 3u);
  for (const int64_t id : ids) EXPECT_EQ(machine.answers().at(id), machine.Expected(Tokens(14), 5));
}

TEST(Scheduler, WindowedGroupsHoldNoMoreThanTheirWindow) {
  SchedulerOptions options = SmallOptions();
  options.groups.windows = {0, 8, 8};
  options.prefix_cache = false;
  TestMachine machine(options, 100);
  Sequence* sequence = *machine.Submit({.prompt = Tokens(100), .max_tokens = 100});
  const int64_t id = sequence->id;
  for (int i = 0; i < 80; ++i) ASSERT_TRUE(machine.Step());
  EXPECT_LE(sequence->pages.num_pages(), (sequence->num_computed + 3) / 4 + 2 * 4);
  EXPECT_LT(machine.scheduler().page_use().waste(), 0.25);
  machine.RunAll(50);
  EXPECT_EQ(machine.answers().at(id), machine.Expected(Tokens(100), 100));
}

}  // namespace
}  // namespace adit::sched
