#include "sample/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

using Change = std::function<void(SamplingParams&)>;

SamplingParams ParamsWith(const Change& change) {
  SamplingParams params;
  change(params);
  return params;
}

Sampler MakeSampler(const SamplingParams& params, int64_t vocab_size, SampleScratch* scratch = nullptr) {
  Result<Sampler> sampler = Sampler::Create(params, vocab_size, {.max_temperature = 100}, scratch);
  EXPECT_TRUE(sampler.ok()) << sampler.status().ToString();
  return std::move(sampler).value();
}

// The token at one position, without history.
int32_t PickAt(Sampler& sampler, const std::vector<float>& row, int64_t position) {
  const Result<SampledToken> token = sampler.Sample(row, {}, {}, position);
  EXPECT_TRUE(token.ok()) << token.status().ToString();
  return token.ok() ? token->id : -1;
}

std::vector<int32_t> PickMany(const SamplingParams& params, const std::vector<float>& row, int64_t num_positions) {
  Sampler sampler = MakeSampler(params, static_cast<int64_t>(row.size()));
  std::vector<int32_t> ids;
  for (int64_t position = 0; position < num_positions; ++position) ids.push_back(PickAt(sampler, row, position));
  return ids;
}

TEST(Sampler, RefusesBadParams) {
  const auto sampler = Sampler::Create(ParamsWith([](auto& p) { p.temperature = -1; }), 10);
  EXPECT_EQ(sampler.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(sampler.status().message(), HasSubstr("temperature"));
  EXPECT_TRUE(Sampler::Create(ParamsWith([](auto& p) { p.temperature = 3; }), 10, {.max_temperature = 4}).ok());
}

TEST(Sampler, RefusesRowsOfAnotherLength) {
  Sampler sampler = MakeSampler({}, 4);
  const std::vector<float> row(3);
  const Status status = sampler.Sample(row, {}, {}, 17).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::AllOf(HasSubstr("17"), HasSubstr("3 logits"), HasSubstr("4 tokens")));
}

// Known by arithmetic: equal logits weigh 1 each, so of 1000 the one drawn is floor(1000 * u), and u is Philox4x32-10's
// answer for the seed and the position, computed by an implementation in another language.
TEST(Sampler, DrawsKnownTokensFromEqualLogits) {
  struct Case {
    int64_t seed;
    int64_t position;
    int32_t token_id;
  };
  const std::vector<float> row(1'000, 0.25f);
  for (const Case& c : std::vector<Case>{{0, 0, 399},
                                         {0, 1, 972},
                                         {42, 0, 612},
                                         {42, 1, 987},
                                         {42, 2, 825},
                                         {-1, 0, 447},
                                         {std::numeric_limits<int64_t>::min(), 7, 30},
                                         {std::numeric_limits<int64_t>::max(), 131'071, 285},
                                         {1'234'567'890'123, 4'294'967'296, 546}}) {
    Sampler sampler = MakeSampler(ParamsWith([&](auto& p) { p.seed = c.seed; }), 1'000);
    EXPECT_EQ(PickAt(sampler, row, c.position), c.token_id) << "seed " << c.seed << ", position " << c.position;
  }
}

TEST(Sampler, DependsOnSeedAndPositionNotOnEarlierCalls) {
  std::mt19937 rng(1);
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < 50; ++i) rows.push_back(NormalRow(rng, 200, 1));
  const SamplingParams params = ParamsWith([](auto& p) { p.seed = 5; });
  Sampler forward = MakeSampler(params, 200);
  std::vector<int32_t> expected;
  for (int64_t position = 0; position < 50; ++position) {
    expected.push_back(PickAt(forward, rows[static_cast<size_t>(position)], position));
  }
  // Backwards, every position thrice, other requests in between, one scratch for all.
  SampleScratch scratch;
  Sampler sampler = MakeSampler(params, 200, &scratch);
  Sampler other =
      MakeSampler(ParamsWith([](auto& p) { p.top_p = 0.7, p.presence_penalty = 1, p.top_logprobs = 3; }), 90, &scratch);
  const std::vector<float> other_row = NormalRow(rng, 90, 2);
  const std::vector<int32_t> other_output = {1, 5, 5};
  for (int64_t position = 49; position >= 0; --position) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(other.Sample(other_row, other_output, other_output, position).ok());
      ASSERT_EQ(PickAt(sampler, rows[static_cast<size_t>(position)], position),
                expected[static_cast<size_t>(position)]);
    }
  }
}

TEST(Sampler, DrawsDifferentlyForOtherSeedsAndPositions) {
  const std::vector<float> row(100'000, 0.0f);
  const auto first = PickMany(ParamsWith([](auto& p) { p.seed = 1; }), row, 8);
  const auto second = PickMany(ParamsWith([](auto& p) { p.seed = 2; }), row, 8);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_NE(first[i], second[i]);
    EXPECT_EQ(std::count(first.begin(), first.end(), first[i]), 1);
  }
}

TEST(Sampler, TakesTheBestTokenWhenGreedy) {
  const std::vector<Change> greedy = {
      [](auto& p) { p.temperature = 0; },
      [](auto& p) { p.temperature = 1e-12; },
      [](auto& p) { p.top_k = 1, p.temperature = 2; },
      [](auto& p) { p.top_p = 0; },
      [](auto& p) { p.temperature = 0, p.top_k = 40, p.top_p = 0.9, p.min_p = 0.5; },
  };
  std::mt19937 rng(1);
  for (int round = 0; round < 50; ++round) {
    const std::vector<float> row = round % 2 == 0 ? RowWithTies(rng, 300) : NormalRow(rng, 300, 1);
    const auto best = static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    for (const Change& change : greedy) EXPECT_THAT(PickMany(ParamsWith(change), row, 3), Each(best));
  }
}

TEST(Sampler, TakesTheLowestIdOfEqualBestTokens) {
  for (const double temperature : {0.0, 1e-40, 1e-6}) {
    EXPECT_THAT(PickMany(ParamsWith([&](auto& p) { p.temperature = temperature; }), {1, 9, 3, 9, 9}, 20), Each(1));
  }
}

TEST(Sampler, IsGreedyAtTinyTemperatures) {
  const std::vector<float> row = {10, 9, -kTestInfinity, 3};
  const std::vector<double> exact = ExactLogSoftmax(row);
  SampleScratch scratch;
  Sampler warm = MakeSampler({}, 4, &scratch);
  for (const double temperature : {0.0, 1e-300, 1e-45, 1e-38, 1e-12, 1e-6, 1e-5, 1e-4, 1e-3}) {
    const SamplingParams params = ParamsWith([&](auto& p) { p.temperature = temperature, p.top_logprobs = 4; });
    Sampler sampler = MakeSampler(params, 4, &scratch);
    for (int64_t position = 0; position < 200; ++position) {
      ASSERT_NE(PickAt(warm, row, position), 2);
      const auto token = sampler.Sample(row, {}, {}, position);
      ASSERT_TRUE(token.ok());
      ASSERT_EQ(token->id, 0) << "temperature " << temperature;
      ASSERT_NEAR(token->logprob, exact[0], 1e-6);
      ASSERT_EQ(token->top.size(), 3u) << "the token of no probability is not told";
      for (const TokenLogprob& each : token->top) ASSERT_TRUE(std::isfinite(each.logprob));
    }
  }
}

TEST(Sampler, NeverPicksNaNNorMinusInfinity) {
  const std::vector<float> row = {kTestNaN, 1, -kTestInfinity, 2, kTestNaN, 1.5f, -kTestInfinity};
  const std::vector<Change> changes = {
      [](auto& p) { p.temperature = 0; },
      [](auto&) {},
      [](auto& p) { p.temperature = 2; },
      [](auto& p) { p.temperature = 100, p.top_k = 6; },
      [](auto& p) { p.top_p = 0.99999; },
      [](auto& p) { p.min_p = 1e-9; },
      [](auto& p) {
        p.logit_bias = {{0, 100}, {2, 100}, {4, -100}};
      },
      [](auto& p) { p.repetition_penalty = 0.01, p.presence_penalty = -2; },
  };
  for (const Change& change : changes) {
    Sampler sampler = MakeSampler(ParamsWith(change), 7);
    const std::vector<int32_t> history = {0, 2, 4, 6};
    for (int64_t position = 0; position < 300; ++position) {
      const auto token = sampler.Sample(row, history, history, position);
      ASSERT_TRUE(token.ok());
      ASSERT_THAT(token->id, testing::AnyOf(1, 3, 5));
      ASSERT_TRUE(std::isfinite(token->logprob));
    }
  }
}

TEST(Sampler, SaysSoWhenNoTokenCanBePicked) {
  for (const double temperature : {0.0, 1.0}) {
    Sampler sampler = MakeSampler(ParamsWith([&](auto& p) { p.temperature = temperature; }), 3);
    for (const auto& row : std::vector<std::vector<float>>{{kTestNaN, kTestNaN, kTestNaN},
                                                           {-kTestInfinity, -kTestInfinity, -kTestInfinity},
                                                           {kTestNaN, -kTestInfinity, kTestNaN}}) {
      const Status status = sampler.Sample(row, {}, {}, 12).status();
      EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.message(), HasSubstr("position 12: logits are all NaN or -inf"));
    }
    EXPECT_EQ(PickAt(sampler, {-kTestInfinity, 1, kTestNaN}, 0), 1) << "a bad row harms no later one";
  }
}

TEST(Sampler, PicksInfiniteLogits) {
  const std::vector<float> row = {1, kTestInfinity, 1e30f, kTestInfinity, kTestNaN};
  EXPECT_THAT(PickMany(ParamsWith([](auto& p) { p.temperature = 0; }), row, 3), Each(1));
  for (const double top_p : {1.0, 0.9}) {
    const auto ids =
        PickMany(ParamsWith([&](auto& p) { p.top_p = top_p, p.min_p = 0.1, p.temperature = 0.5; }), row, 200);
    EXPECT_THAT(ids, Each(testing::AnyOf(1, 3)));
    EXPECT_NEAR(static_cast<double>(std::count(ids.begin(), ids.end(), 1)), 100, 40);
  }
  Sampler sampler = MakeSampler(ParamsWith([](auto& p) { p.top_logprobs = 5; }), 5);
  const auto token = sampler.Sample(row, {}, {}, 0);
  ASSERT_TRUE(token.ok());
  EXPECT_NEAR(token->logprob, -std::log(2.0), 1e-12);
  EXPECT_EQ(token->top.size(), 2u);
}

TEST(Sampler, BiasIsAddedAndBansHold) {
  const std::vector<float> row = {5, 4, 3};
  const auto greedy = [&](std::vector<LogitBias> biases) {
    return PickMany(ParamsWith([&](auto& p) { p.temperature = 0, p.logit_bias = std::move(biases); }), row, 1)[0];
  };
  constexpr double kBan = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(greedy({{2, 1.5}}), 0);
  EXPECT_EQ(greedy({{2, 2.5}}), 2);
  EXPECT_EQ(greedy({{2, 1.5}, {2, 1.5}}), 2) << "biases of one id add up";
  EXPECT_EQ(greedy({{0, -2}}), 1);
  EXPECT_EQ(greedy({{0, kBan}}), 1);
  EXPECT_EQ(greedy({{0, kBan}, {0, 100}, {1, kBan}}), 2);
  EXPECT_THAT(PickMany(ParamsWith([&](auto& p) {
                         p.temperature = 2, p.logit_bias = {{0, kBan}, {2, kBan}};
                       }),
                       row, 50),
              Each(1));
  Sampler sampler = MakeSampler(ParamsWith([&](auto& p) { p.logit_bias = {{0, kBan}, {1, kBan}, {2, kBan}}; }), 3);
  const Status status = sampler.Sample(row, {}, {}, 4).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("position 4: logit_bias"));
}

TEST(Sampler, PenalisesHistoryBeforeItChooses) {
  const std::vector<float> row = {3, 2.5f, 1};
  const std::vector<int32_t> prompt = {0, 0};
  const std::vector<int32_t> output = {0, 1, 1};
  const auto greedy = [&](const Change& change, std::span<const int32_t> before, std::span<const int32_t> after) {
    Sampler sampler = MakeSampler(ParamsWith([&](auto& p) { p.temperature = 0, change(p); }), 3);
    const auto token = sampler.Sample(row, before, after, 9);
    EXPECT_NEAR(token->logprob, ExactLogSoftmax(row)[static_cast<size_t>(token->id)], 1e-6)
        << "of the model, unchanged";
    return token->id;
  };
  EXPECT_EQ(greedy([](auto& p) { p.repetition_penalty = 2; }, prompt, {}), 1);
  EXPECT_EQ(greedy([](auto& p) { p.repetition_penalty = 4; }, prompt, output), 2);
  EXPECT_EQ(greedy([](auto& p) { p.frequency_penalty = 2; }, prompt, {}), 0) << "the prompt does not count";
  EXPECT_EQ(greedy([](auto& p) { p.frequency_penalty = 1; }, prompt, output), 0);
  EXPECT_EQ(greedy([](auto& p) { p.presence_penalty = 2; }, {}, output), 0);
  EXPECT_EQ(greedy([](auto& p) { p.frequency_penalty = 2; }, {}, output), 0);
  EXPECT_EQ(greedy([](auto& p) { p.frequency_penalty = 2, p.presence_penalty = 2; }, {}, output), 2);
}

TEST(Sampler, FiltersActInTheStatedOrder) {
  // top_p sees what top_k left, renormalised: of {0.4, 0.3} the first holds 4/7, enough for 0.55 of it but not of the
  // row.
  const auto log = [](double probability) { return static_cast<float>(std::log(probability)); };
  const std::vector<float> row = {log(0.4), log(0.3), log(0.2), log(0.1)};
  EXPECT_THAT(PickMany(ParamsWith([](auto& p) { p.top_k = 2, p.top_p = 0.55; }), row, 50), Each(0));
  EXPECT_THAT(PickMany(ParamsWith([](auto& p) { p.top_p = 0.55; }), row, 50), testing::Contains(1));
  // Filters see probabilities at temperature 1: a high temperature brings nothing back that min_p drops.
  EXPECT_THAT(PickMany(ParamsWith([](auto& p) { p.min_p = 0.6, p.temperature = 2; }), row, 200),
              Each(testing::AnyOf(0, 1)));
  // A low one drops nothing that top_p keeps: the second is still drawn now and then.
  EXPECT_THAT(PickMany(ParamsWith([](auto& p) { p.top_p = 0.6, p.temperature = 0.5; }), row, 50), testing::Contains(1));
}

TEST(Sampler, FiltersThatKeepAllChangeNothing) {
  std::mt19937 rng(1);
  const std::vector<float> row = NormalRow(rng, 500, 1);
  const std::vector<int32_t> expected = PickMany({}, row, 300);
  EXPECT_EQ(PickMany(ParamsWith([](auto& p) { p.top_k = 500; }), row, 300), expected);
  EXPECT_EQ(PickMany(ParamsWith([](auto& p) { p.min_p = 1e-12; }), row, 300), expected);
  EXPECT_EQ(PickMany(ParamsWith([](auto& p) { p.top_k = -1, p.repeat_last_n = 0; }), row, 300), expected);
}

TEST(Sampler, CanBeMoved) {
  std::mt19937 rng(1);
  const std::vector<float> row = NormalRow(rng, 500, 1);
  Sampler first = MakeSampler(ParamsWith([](auto& p) { p.top_p = 0.9; }), 500);
  const int32_t expected = PickAt(first, row, 3);
  Sampler second = std::move(first);
  EXPECT_EQ(PickAt(second, row, 3), expected);
  EXPECT_EQ(second.vocab_size(), 500);
  EXPECT_EQ(second.params().top_p, 0.9);
}

}  // namespace
}  // namespace adit::sample
