// Random requests, cancellations, pauses and forks under every policy, on pools that are too small: every sequence that
// is left alone ends with the answer that it gives alone, and every page comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sched/scheduler.h"
#include "sched/test_machine.h"

namespace adit::sched {
namespace {

struct Case {
  Policy policy = Policy::kFcfs;
  Batching batching = Batching::kContinuous;
  bool chunked_prefill = true;
  bool prefix_cache = true;
  std::vector<int64_t> windows = {0};
  int64_t short_length = 0;
};

void PrintTo(const Case& test_case, std::ostream* out) {
  *out << PolicyName(test_case.policy) << " " << BatchingName(test_case.batching)
       << (test_case.chunked_prefill ? "" : " whole prompts") << (test_case.prefix_cache ? "" : " no prefix cache")
       << " windows";
  for (const int64_t window : test_case.windows) *out << " " << window;
  if (test_case.short_length > 0) *out << ", short up to " << test_case.short_length;
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const std::vector<std::vector<int64_t>> windows = {{0}, {0, 6}, {9}, {5, 0, 12}};
  for (const Policy policy :
       {Policy::kFcfs, Policy::kPriority, Policy::kSjf, Policy::kLpm, Policy::kFair, Policy::kDeadline}) {
    for (const auto& group_windows : windows) cases.push_back({.policy = policy, .windows = group_windows});
    cases.push_back({.policy = policy, .batching = Batching::kStatic});
    cases.push_back({.policy = policy, .chunked_prefill = false});
    cases.push_back({.policy = policy, .prefix_cache = false, .windows = {0, 7}});
    cases.push_back({.policy = policy, .windows = {0, 6}, .short_length = 31});
  }
  return cases;
}

class SchedulerProperty : public testing::TestWithParam<Case> {};

// What a sequence's answer follows from: its tokens up to some moment.
struct Expectation {
  std::vector<int32_t> tokens;
  size_t num_prompt = 0;
  int64_t max_tokens = 0;

  std::vector<int32_t> Answer(const TestMachine& machine) const {
    std::vector<int32_t> answer(tokens.begin() + static_cast<std::ptrdiff_t>(num_prompt), tokens.end());
    const auto rest = machine.Expected(tokens, max_tokens - static_cast<int64_t>(answer.size()));
    answer.insert(answer.end(), rest.begin(), rest.end());
    return answer;
  }
};

class RandomRun {
 public:
  RandomRun(const Case& test_case, uint32_t seed) : rng_(seed), machine_(Options(test_case), NumPages(test_case)) {
    machine_.on_token = [this](Sequence& sequence) { OnToken(sequence); };
  }

  void Run(int num_rounds) {
    for (int round = 0; round < num_rounds; ++round) {
      if (Below(3) == 0) Submit();
      if (Below(25) == 0) CancelOne();
      if (Below(10) == 0) PauseOrGoOn();
      machine_.Step();
      most_held_back = std::max(most_held_back, machine_.scheduler().num_held_back());
      ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
    }
    for (const auto& [id, sequence] : machine_.live()) machine_.scheduler().SetPaused(*sequence, false);
    machine_.RunAll(20000);
    for (const auto& [id, expected] : expected_) {
      const auto answer = machine_.answers().find(id);
      ASSERT_NE(answer, machine_.answers().end()) << "sequence " << id << " did not end";
      EXPECT_EQ(answer->second, expected.Answer(machine_)) << "sequence " << id;
    }
    if (machine_.scheduler().options().policy == Policy::kFair) {
      EXPECT_EQ(machine_.scheduler().fair_share().num_violations(), 0);
    }
    preemptions = machine_.scheduler().counters().preemptions;
  }

  int64_t preemptions = 0;
  int64_t most_held_back = 0;

 private:
  static SchedulerOptions Options(const Case& test_case) {
    SchedulerOptions options{.policy = test_case.policy,
                             .batching = test_case.batching,
                             .chunked_prefill = test_case.chunked_prefill,
                             .prefix_cache = test_case.prefix_cache,
                             .groups = {.block_size = 4, .windows = test_case.windows},
                             .max_context = 90,
                             .short_length = test_case.short_length,
                             .max_batch_tokens = 12,
                             .max_num_seqs = 6,
                             .max_queued_requests = 0};
    options.tenants.resize(3);
    options.tenants[1].weight = 2.0;
    return options;
  }

  // Little more than the longest sequence needs.
  static int32_t NumPages(const Case& test_case) {
    const kv::PageGroups groups{.block_size = 4, .windows = test_case.windows};
    return static_cast<int32_t>(groups.MostPages(90, test_case.chunked_prefill ? 12 : 90) * 9 / 8 + 1);
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }

  void Submit() {
    // A few beginnings, so that prefixes are shared and part in the middle of pages.
    RequestSpec spec{.max_tokens = 1 + Below(20),
                     .priority = static_cast<int32_t>(Below(3)),
                     .tenant = static_cast<int32_t>(Below(3)),
                     .salt = Below(2)};
    if (spec.tenant == 2) spec.tenant_tokens = 86;
    const uint32_t beginning = Below(3);
    const uint32_t shared = Below(40);
    for (uint32_t i = 0; i < shared; ++i) spec.prompt.push_back(static_cast<int32_t>(beginning * 7 + i % 5));
    const uint32_t own = 1 + Below(25);
    for (uint32_t i = 0; i < own; ++i) spec.prompt.push_back(static_cast<int32_t>(Below(3)));
    if (Below(5) == 0) {
      spec.num_sequences = 2 + static_cast<int32_t>(Below(2));
      spec.lockstep = Below(2) == 0;
    }
    if (Below(3) == 0) spec.first_token_by_s = machine_.now_s() + 100.0;
    const Expectation expectation{spec.prompt, spec.prompt.size(), spec.max_tokens};
    const auto sequence = machine_.Submit(std::move(spec));
    // Only several in lockstep may be too much for this cache.
    if (!sequence.ok()) {
      ASSERT_EQ(sequence.status().code(), StatusCode::kInvalidArgument);
      return;
    }
    expected_[(*sequence)->id] = expectation;
  }

  void CancelOne() {
    if (machine_.live().empty()) return;
    auto victim = machine_.live().begin();
    std::advance(victim, Below(static_cast<uint32_t>(machine_.live().size())));
    expected_.erase(victim->first);
    machine_.Cancel(victim->first);
  }

  void PauseOrGoOn() {
    for (const auto& [id, sequence] : machine_.live()) {
      if (sequence->num_output() > 0 && Below(4) == 0) machine_.scheduler().SetPaused(*sequence, !sequence->paused);
    }
  }

  void OnToken(Sequence& sequence) {
    if (sequence.gang == nullptr) {
      while (sequence.seats > 1) Fork(sequence);
      return;
    }
    // As a beam search does: once the beams have moved on, some end and others fork.
    Gang& gang = *sequence.gang;
    if (gang.members.size() == 1) {
      while (sequence.seats > 1) Fork(sequence);
    } else if (&sequence == gang.members.back() && Below(3) == 0) {
      Sequence& dead = *gang.members.front();
      if (dead.num_tokens() != sequence.num_tokens()) return;
      expected_.erase(dead.id);
      machine_.Finish(dead, false);
      Fork(sequence);
    }
  }

  // The child goes another way from its last token on.
  void Fork(Sequence& parent) {
    Sequence& child = machine_.Fork(parent);
    child.tokens.back() = static_cast<int32_t>(50 + Below(50));
    if (expected_.contains(parent.id)) {
      expected_[child.id] = {child.tokens, static_cast<size_t>(child.num_prompt), child.spec.max_tokens};
    }
  }

  std::mt19937 rng_;
  TestMachine machine_;
  std::map<int64_t, Expectation> expected_;
};

TEST_P(SchedulerProperty, EverySequenceEndsWithItsOwnAnswerAndEveryPageComesBack) {
  int64_t preemptions = 0;
  int64_t held_back = 0;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomRun run(GetParam(), seed);
    run.Run(700);
    ASSERT_FALSE(HasFailure());
    preemptions += run.preemptions;
    held_back += run.most_held_back;
  }
  EXPECT_GT(held_back, 0) << "the limit of a tenant is too high to test it";
  EXPECT_GT(preemptions, 0) << "the pool is too large to test preemption";
}

INSTANTIATE_TEST_SUITE_P(All, SchedulerProperty, testing::ValuesIn(Cases()));

}  // namespace
}  // namespace adit::sched
