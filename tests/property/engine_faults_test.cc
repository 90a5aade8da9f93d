// Ten thousand requests of which many are cancelled, time out, have slow readers, cannot run or ban every token: all
// end, what runs beside them is untouched, and every page comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "engine/test_engine.h"

namespace adit::engine {
namespace {

constexpr int kRequests = 10000;

class FaultyLoad {
 public:
  explicit FaultyLoad(const LoadedModel& model) : model_(model), engine_(model, Options()) {}

  void Run() {
    const std::vector<int32_t> expected = RunProbe();
    int submitted = 0;
    for (int round = 0; submitted < kRequests || !engine_.core().idle(); ++round) {
      ASSERT_LT(round, 40 * kRequests) << "requests do not end";
      for (uint32_t i = Below(2); i > 0 && submitted < kRequests; --i, ++submitted) Submit();
      if (Below(2) == 0) Disturb();
      if (submitted == kRequests) {
        for (auto& [id, slow] : engine_.slow) slow = false;
      }
      engine_.Step();
      ASSERT_FALSE(testing::Test::HasFailure());
      if (round % 997 == 0) {
        ASSERT_EQ(RunProbe(), expected) << "round " << round;
      }
    }
    EXPECT_GT(engine_.core().stats().scheduler.preemptions, 0);
    EXPECT_GT(engine_.core().stats().cancelled, kRequests / 20);
    EXPECT_GT(engine_.core().stats().missed_deadlines, 0);
  }

 private:
  static EngineOptions Options() {
    EngineOptions options{.kv_tokens = 144, .event_capacity = 8};
    options.scheduler.max_context = 100;
    options.scheduler.max_batch_tokens = 48;
    options.scheduler.max_num_seqs = 12;
    options.scheduler.max_queued_requests = 40;
    options.scheduler.policy = sched::Policy::kFair;
    options.scheduler.tenants.resize(2);
    options.scheduler.tenants[1].weight = 2.0;
    return options;
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }

  // A request that nothing disturbs, beside all the others.
  std::vector<int32_t> RunProbe() {
    GenerationRequest request{.prompt = {3, 1, 4, 1, 5}, .sampling = {.seed = 7}, .max_tokens = 6, .ignore_eos = true};
    for (auto& [other, slow] : engine_.slow) slow = false;
    while (true) {
      const int64_t id = engine_.Add(request);
      for (int steps = 0; !engine_.told(id).done; ++steps) {
        EXPECT_LT(steps, 10000);
        if (steps >= 10000) return {};
        engine_.Step();
      }
      if (engine_.told(id).error.ok()) return engine_.told(id).answers.at(0).tokens;
      engine_.Step();  // the queue was full
    }
  }

  void Submit() {
    GenerationRequest request{.sampling = {.seed = static_cast<int64_t>(Below(1000))},
                              .max_tokens = static_cast<int64_t>(Below(25)),
                              .ignore_eos = true,
                              .priority = static_cast<int32_t>(Below(3)),
                              .tenant = static_cast<int32_t>(Below(2))};
    const auto vocab_size = static_cast<uint32_t>(model_.tokenizer().vocab_size());
    const uint32_t length = Below(50) == 0 ? 100 + Below(50) : 1 + Below(40);
    for (uint32_t i = 0; i < length; ++i) {
      request.prompt.push_back(static_cast<int32_t>(i < 20 ? i % 3 : Below(vocab_size)));
    }
    if (Below(10) == 0) request.num_answers = 1 + static_cast<int32_t>(Below(4));
    if (Below(20) == 0) request.beam.width = 2 + static_cast<int32_t>(Below(2));
    if (request.beam.width > 0) request.num_answers = 1;
    if (Below(20) == 0) request.timeout_s = 1e-3 * (1 + Below(20));
    if (Below(30) == 0) request.prompt_logprobs = 1;
    if (Below(40) == 0) {
      for (uint32_t i = 0; i < vocab_size; ++i) {
        request.sampling.logit_bias.push_back(
            {.token_id = static_cast<int32_t>(i), .bias = -std::numeric_limits<double>::infinity()});
      }
    }
    if (Below(40) == 0) request.prompt.push_back(-1);
    const int64_t id = engine_.Add(std::move(request));
    if (id == 0) return;
    ids_.push_back(id);
    if (Below(8) == 0) engine_.slow[id] = true;
  }

  void Disturb() {
    if (ids_.empty()) return;
    const size_t from = ids_.size() > 16 ? ids_.size() - 16 : 0;
    const int64_t id = ids_[from + Below(static_cast<uint32_t>(ids_.size() - from))];
    if (Below(3) == 0) {
      engine_.slow[id] = !engine_.slow[id];
    } else {
      engine_.End(id, FinishReason::kCancelled);
    }
  }

  std::mt19937 rng_{99};
  const LoadedModel& model_;
  TestEngine engine_;
  std::vector<int64_t> ids_;
};

TEST(EngineFaults, TenThousandDisturbedRequestsLeaveNothingBehind) {
  const auto model = LoadGolden("gemma3", "auto", 1);
  ASSERT_NE(model, nullptr);
  FaultyLoad(*model).Run();
}

}  // namespace
}  // namespace adit::engine
