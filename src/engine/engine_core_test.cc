#include "engine/engine_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/test_engine.h"

namespace adit::engine {
namespace {

using testing::HasSubstr;

std::vector<int32_t> Prompt(int32_t length, int32_t seed = 0) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < length; ++i) tokens.push_back((i * 37 + seed * 101 + 11) % 256);
  return tokens;
}

GenerationRequest Greedy(std::vector<int32_t> prompt, int64_t max_tokens) {
  return {.prompt = std::move(prompt), .sampling = {.temperature = 0.0}, .max_tokens = max_tokens, .ignore_eos = true};
}

class EngineCoreTest : public testing::Test {
 protected:
  void SetUp() override { model_ = LoadGolden("llama"); }

  static EngineOptions Options() {
    EngineOptions options{.kv_tokens = 1024, .event_capacity = 300};
    options.scheduler.max_context = 120;
    options.scheduler.max_batch_tokens = 32;
    options.scheduler.max_num_seqs = 8;
    return options;
  }

  // Greedy tokens straight from the runner.
  std::vector<int32_t> Reference(std::vector<int32_t> tokens, int64_t count) {
    auto runner = ModelRunner::Create(*model_, {.kv_tokens = 256, .max_batch_tokens = 256}).value();
    std::vector<int32_t> answer;
    SequenceCache sequence = runner->NewSequence();
    std::span<const int32_t> next = tokens;
    while (static_cast<int64_t>(answer.size()) < count) {
      const SequenceStep step{.sequence = &sequence, .tokens = next};
      const auto logits = runner->Run(std::span(&step, 1));
      EXPECT_TRUE(logits.ok());
      answer.push_back(static_cast<int32_t>(std::max_element(logits->begin(), logits->end()) - logits->begin()));
      next = std::span(&answer.back(), 1);
    }
    return answer;
  }

  std::unique_ptr<LoadedModel> model_;
};

TEST_F(EngineCoreTest, TellsWhatStepsReadAndComputedAndWhereTheirTimeWent) {
  TestEngine engine(*model_, Options());
  engine.Add(Greedy(Prompt(9), 3));
  engine.RunAll();
  const EngineStats stats = engine.core().stats();
  double seconds = 0.0;
  for (const double part : stats.op_seconds) {
    EXPECT_GT(part, 0.0);
    seconds += part;
  }
  EXPECT_LE(seconds, stats.model_seconds);
  // The prompt, and each token but the last, which takes part in no step.
  const models::ModelWeights& weights = model_->weights();
  EXPECT_EQ(stats.work.linear.bytes, 3.0 * static_cast<double>(weights.layer_products.weight_bytes));
  EXPECT_EQ(stats.work.output.bytes, 3.0 * static_cast<double>(weights.output_products.weight_bytes));
  const models::ProductCount& products = weights.layer_products;
  EXPECT_EQ(stats.work.linear.ops(), 2.0 * 11.0 * static_cast<double>(products.q8 + products.bf16 + products.f32));
  EXPECT_GT(stats.work.attention.ops(), 0.0);
}

TEST_F(EngineCoreTest, AnswersAreThoseOfTheModelAlone) {
  TestEngine engine(*model_, Options());
  std::vector<int64_t> ids;
  for (int32_t i = 0; i < 12; ++i) ids.push_back(engine.Add(Greedy(Prompt(5 + 9 * i, i), 10)));
  engine.RunAll();
  for (int32_t i = 0; i < 12; ++i) {
    const Told& told = engine.told(ids[static_cast<size_t>(i)]);
    EXPECT_TRUE(told.done);
    EXPECT_EQ(told.answers.at(0).tokens, Reference(Prompt(5 + 9 * i, i), 10)) << i;
    EXPECT_EQ(told.answers.at(0).stats.reason, FinishReason::kLength);
    EXPECT_EQ(told.answers.at(0).stats.prompt_tokens, 5 + 9 * i);
  }
}

TEST_F(EngineCoreTest, ASecondTurnFindsTheFirstInTheCache) {
  TestEngine engine(*model_, Options());
  const int64_t first = engine.Add(Greedy(Prompt(40), 20));
  engine.RunAll();
  std::vector<int32_t> prompt = Prompt(40);
  const auto& answer = engine.told(first).answers.at(0).tokens;
  prompt.insert(prompt.end(), answer.begin(), answer.end());
  prompt.insert(prompt.end(), {7, 8, 9});
  const int64_t second = engine.Add(Greedy(prompt, 10));
  engine.RunAll();
  EXPECT_GE(engine.told(second).answers.at(0).stats.cached_tokens, 48);
  EXPECT_EQ(engine.told(second).answers.at(0).tokens, Reference(prompt, 10));
}

TEST_F(EngineCoreTest, OtherTenantsAndSaltsShareNoPrefix) {
  EngineOptions options = Options();
  options.scheduler.tenants.resize(2);
  TestEngine engine(*model_, options);
  GenerationRequest request = Greedy(Prompt(64), 2);
  engine.Add(request);
  engine.RunAll();
  const auto cached = [&](GenerationRequest wanted) {
    const int64_t id = engine.Add(std::move(wanted));
    engine.RunAll();
    return engine.told(id).answers.at(0).stats.cached_tokens;
  };
  EXPECT_GT(cached(request), 0);
  request.tenant = 1;
  EXPECT_EQ(cached(request), 0);
  request.tenant = 0;
  request.cache_salt = "x";
  EXPECT_EQ(cached(request), 0);
  EXPECT_GT(cached(request), 0);
  request.use_prefix_cache = false;
  EXPECT_EQ(cached(request), 0);
}

TEST_F(EngineCoreTest, StopsAtTheLimitsThatAreAskedFor) {
  TestEngine engine(*model_, Options());
  const auto run = [&](GenerationRequest request) {
    const int64_t id = engine.Add(std::move(request));
    engine.RunAll();
    return engine.told(id).answers.at(0);
  };
  EXPECT_TRUE(run(Greedy(Prompt(20), 0)).tokens.empty());
  EXPECT_EQ(run(Greedy(Prompt(20), 1)).tokens.size(), 1u);
  for (const int32_t length : {1, 118, 119}) {
    const auto answer = run(Greedy(Prompt(length), -1));
    EXPECT_EQ(static_cast<int32_t>(answer.tokens.size()), 120 - length);
    EXPECT_EQ(answer.stats.reason, FinishReason::kLength);
  }
  const std::vector<int32_t> free = Reference(Prompt(20), 10);
  GenerationRequest request = Greedy(Prompt(20), 10);
  request.stop_token_ids = {free[4]};
  const auto stopped = run(request);
  const auto first = std::find(free.begin(), free.end(), free[4]);
  EXPECT_EQ(stopped.tokens, std::vector<int32_t>(free.begin(), first + 1));
  EXPECT_EQ(stopped.stats.reason, FinishReason::kStop);
  EXPECT_EQ(stopped.stats.stop_token, free[4]);
  request.min_tokens = 8;
  const auto later = run(request);
  EXPECT_GE(later.stats.output_tokens, 9);
  EXPECT_EQ(std::count(later.tokens.begin(), later.tokens.begin() + 8, free[4]), 0);
}

TEST_F(EngineCoreTest, RefusesBadRequestsAndGoesOn) {
  TestEngine engine(*model_, Options());
  const auto refusal = [&](GenerationRequest request) {
    EXPECT_EQ(engine.Add(std::move(request)), 0);
    EXPECT_EQ(engine.told(0).error.code(), StatusCode::kInvalidArgument);
    return engine.told(0).error.message();
  };
  EXPECT_THAT(refusal(Greedy(Prompt(120), 1)),
              HasSubstr("120 tokens, which leaves no room for an answer in a context of 120"));
  EXPECT_THAT(refusal(Greedy({}, 1)), HasSubstr("empty"));
  EXPECT_THAT(refusal(Greedy({1, 100000}, 1)), HasSubstr("token 100000"));
  EXPECT_THAT(refusal(Greedy({1, -1}, 1)), HasSubstr("token -1"));
  GenerationRequest request = Greedy(Prompt(5), 5);
  request.num_answers = 200;
  EXPECT_THAT(refusal(request), HasSubstr("n is 200"));
  request.num_answers = 3;
  request.best_of = 2;
  EXPECT_THAT(refusal(request), HasSubstr("best_of is 2"));
  request = Greedy(Prompt(5), 5);
  request.sampling.temperature = -1.0;
  EXPECT_THAT(refusal(request), HasSubstr("temperature"));
  request = Greedy(Prompt(5), 5);
  request.beam.width = 17;
  EXPECT_THAT(refusal(request), HasSubstr("beam width is 17"));
  request = Greedy(Prompt(5), 5);
  request.timeout_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(request), HasSubstr("timeout"));
  const int64_t good = engine.Add(Greedy(Prompt(5), 5));
  engine.RunAll();
  EXPECT_EQ(engine.told(good).answers.at(0).tokens.size(), 5u);
}

TEST_F(EngineCoreTest, SeveralAnswersAreThoseOfTheirSeedsAlone) {
  TestEngine engine(*model_, Options());
  GenerationRequest request{.prompt = Prompt(30), .sampling = {.seed = 5}, .max_tokens = 12, .ignore_eos = true};
  request.num_answers = 4;
  const int64_t together = engine.Add(request);
  engine.RunAll();
  request.num_answers = 1;
  for (int32_t i = 0; i < 4; ++i) {
    request.sampling.seed = 5 + i;
    const int64_t alone = engine.Add(request);
    engine.RunAll();
    EXPECT_EQ(engine.told(together).answers.at(i).tokens, engine.told(alone).answers.at(0).tokens) << i;
    EXPECT_EQ(engine.told(together).answers.at(i).logprobs, engine.told(alone).answers.at(0).logprobs) << i;
  }
}

TEST_F(EngineCoreTest, BestOfTellsTheLikeliest) {
  TestEngine engine(*model_, Options());
  GenerationRequest request{.prompt = Prompt(30), .sampling = {.seed = 9}, .max_tokens = 12, .ignore_eos = true};
  request.num_answers = 6;
  const int64_t all = engine.Add(request);
  engine.RunAll();
  request.num_answers = 2;
  request.best_of = 6;
  const int64_t best = engine.Add(request);
  engine.RunAll();
  std::vector<double> means;
  for (const auto& [index, answer] : engine.told(all).answers) means.push_back(answer.stats.cumulative_logprob / 12.0);
  std::sort(means.rbegin(), means.rend());
  ASSERT_EQ(engine.told(best).answers.size(), 2u);
  EXPECT_DOUBLE_EQ(engine.told(best).answers.at(0).stats.score, means[0]);
  EXPECT_DOUBLE_EQ(engine.told(best).answers.at(1).stats.score, means[1]);
}

TEST_F(EngineCoreTest, PromptLogprobsAreTheSameInAnyChunksAndWhateverIsCached) {
  std::vector<double> first;
  for (const int64_t batch : {200, 8, 32}) {
    for (int round = 0; round < 2; ++round) {
      EngineOptions options = Options();
      options.scheduler.max_batch_tokens = batch;
      TestEngine engine(*model_, options);
      if (round == 1) {
        engine.Add(Greedy(Prompt(60), 4));
        engine.RunAll();
      }
      GenerationRequest request = Greedy(Prompt(97), 3);
      request.prompt_logprobs = 2;
      const Told& told = engine.told(engine.Add(request));
      engine.RunAll();
      EXPECT_EQ(told.prompt, Prompt(97));
      ASSERT_EQ(told.prompt_logprobs.size(), 97u);
      EXPECT_TRUE(std::isnan(told.prompt_logprobs[0]));
      const std::vector<double> rest(told.prompt_logprobs.begin() + 1, told.prompt_logprobs.end());
      for (const double logprob : rest) EXPECT_LE(logprob, 0.0);
      if (first.empty()) first = rest;
      EXPECT_EQ(rest, first) << batch << " round " << round;
      EXPECT_EQ(told.answers.at(0).tokens, Reference(Prompt(97), 3));
    }
  }
}

TEST_F(EngineCoreTest, CancellingInAnyPhaseEndsARequestAndGivesItsPagesBack) {
  EngineOptions options = Options();
  options.scheduler.max_num_seqs = 1;
  TestEngine engine(*model_, options);
  const int64_t running = engine.Add(Greedy(Prompt(100), 50));
  const int64_t waiting = engine.Add(Greedy(Prompt(100, 1), 50));
  engine.Step();  // prefilling
  engine.End(waiting, FinishReason::kCancelled);
  EXPECT_TRUE(engine.told(waiting).done);
  EXPECT_EQ(engine.told(waiting).answers.at(0).stats.reason, FinishReason::kCancelled);
  engine.End(running, FinishReason::kCancelled);
  const int64_t decoding = engine.Add(Greedy(Prompt(10), 50));
  for (int i = 0; i < 5; ++i) engine.Step();
  EXPECT_GT(engine.told(decoding).answers.at(0).tokens.size(), 2u);
  engine.End(decoding, FinishReason::kCancelled);
  EXPECT_TRUE(engine.told(decoding).done);
  GenerationRequest several = Greedy(Prompt(10), 50);
  several.num_answers = 1;
  several.beam.width = 1 + 1;
  options.scheduler.max_num_seqs = 4;
  TestEngine wide(*model_, options);
  const int64_t beams = wide.Add(several);
  for (int i = 0; i < 5; ++i) wide.Step();
  wide.End(beams, FinishReason::kCancelled);
  EXPECT_TRUE(wide.told(beams).done);
  several.beam.width = 0;
  several.num_answers = 3;
  for (int steps = 0; steps < 4; ++steps) {
    const int64_t id = wide.Add(several);
    for (int i = 0; i < steps; ++i) wide.Step();
    wide.End(id, FinishReason::kCancelled);
    EXPECT_EQ(wide.told(id).answers.size(), 3u);
    EXPECT_TRUE(wide.told(id).done);
  }
  EXPECT_TRUE(wide.core().idle());
}

TEST_F(EngineCoreTest, ATimeoutEndsARequestWithWhatThereIs) {
  TestEngine engine(*model_, Options());
  GenerationRequest request = Greedy(Prompt(10), 100);
  request.timeout_s = 0.0105;
  const int64_t id = engine.Add(request);
  engine.RunAll();
  EXPECT_EQ(engine.told(id).answers.at(0).stats.reason, FinishReason::kDeadline);
  EXPECT_EQ(engine.told(id).answers.at(0).tokens.size(), 10u);
}

TEST_F(EngineCoreTest, ASlowReaderStopsItselfAlone) {
  EngineOptions options = Options();
  options.event_capacity = 8;
  TestEngine engine(*model_, options);
  const int64_t slow = engine.Add(Greedy(Prompt(10), 60));
  engine.slow[slow] = true;
  const int64_t quick = engine.Add(Greedy(Prompt(10, 1), 60));
  while (!engine.told(quick).done) ASSERT_TRUE(engine.Step());
  EXPECT_FALSE(engine.Step());
  EXPECT_FALSE(engine.core().idle());
  engine.slow[slow] = false;
  engine.RunAll();
  EXPECT_EQ(engine.told(slow).answers.at(0).tokens, Reference(Prompt(10), 60));
}

TEST_F(EngineCoreTest, ALogitThatIsNoNumberFailsOneRequestAlone) {
  TestEngine engine(*model_, Options());
  GenerationRequest bad = Greedy(Prompt(10), 20);
  bad.sampling.top_logprobs = -1;
  // Bans every token: what a model whose logits are all -inf comes to.
  for (int32_t i = 0; i < model_->spec().vocab_size; ++i) {
    bad.sampling.logit_bias.push_back({.token_id = i, .bias = -std::numeric_limits<double>::infinity()});
  }
  bad.num_answers = 3;
  const int64_t bad_id = engine.Add(bad);
  const int64_t good_id = engine.Add(Greedy(Prompt(10), 20));
  engine.RunAll();
  EXPECT_EQ(engine.told(bad_id).error.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(engine.told(good_id).answers.at(0).tokens, Reference(Prompt(10), 20));
}

TEST_F(EngineCoreTest, PreemptedRequestsLoseNothing) {
  EngineOptions options = Options();
  options.kv_tokens = 208;
  TestEngine engine(*model_, options);
  std::vector<int64_t> ids;
  for (int32_t i = 0; i < 8; ++i) ids.push_back(engine.Add(Greedy(Prompt(20, i), 60)));
  engine.RunAll();
  EXPECT_GT(engine.core().stats().scheduler.preemptions, 0);
  for (int32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(engine.told(ids[static_cast<size_t>(i)]).answers.at(0).tokens, Reference(Prompt(20, i), 60)) << i;
  }
}

TEST_F(EngineCoreTest, BeamSearchFindsWhatASearchOverTheModelFinds) {
  constexpr int32_t kWidth = 3;
  constexpr int64_t kMaxTokens = 6;
  TestEngine engine(*model_, Options());
  GenerationRequest request = Greedy(Prompt(20), kMaxTokens);
  request.beam.width = kWidth;
  request.num_answers = kWidth;
  const int64_t id = engine.Add(request);
  engine.RunAll();

  // The same search, each beam run anew from its first token at every step.
  auto runner = ModelRunner::Create(*model_, {.kv_tokens = 256, .max_batch_tokens = 256}).value();
  struct Beam {
    std::vector<int32_t> tokens;
    double sum = 0.0;
  };
  std::vector<Beam> beams = {{}};
  for (int64_t step = 0; step < kMaxTokens; ++step) {
    std::vector<Beam> longer;
    for (const Beam& beam : beams) {
      std::vector<int32_t> tokens = Prompt(20);
      tokens.insert(tokens.end(), beam.tokens.begin(), beam.tokens.end());
      SequenceCache sequence = runner->NewSequence();
      const SequenceStep run{.sequence = &sequence, .tokens = tokens};
      const auto logits = runner->Run(std::span(&run, 1)).value();
      double total = 0.0;
      for (const float logit : logits) total += std::exp(static_cast<double>(logit));
      for (size_t i = 0; i < logits.size(); ++i) {
        Beam next = beam;
        next.tokens.push_back(static_cast<int32_t>(i));
        next.sum += static_cast<double>(logits[i]) - std::log(total);
        longer.push_back(std::move(next));
      }
    }
    std::stable_sort(longer.begin(), longer.end(), [](const Beam& a, const Beam& b) { return a.sum > b.sum; });
    longer.resize(kWidth);
    beams = std::move(longer);
  }
  for (int32_t i = 0; i < kWidth; ++i) {
    const auto& answer = engine.told(id).answers.at(i);
    EXPECT_EQ(answer.tokens, beams[static_cast<size_t>(i)].tokens) << i;
    EXPECT_NEAR(answer.stats.cumulative_logprob, beams[static_cast<size_t>(i)].sum, 1e-4);
  }
}

}  // namespace
}  // namespace adit::engine
