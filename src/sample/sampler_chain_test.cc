#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "sample/chain.h"
#include "sample/sampler.h"
#include "sample/test_rows.h"

// Which steps act, and in which order.
namespace adit::sample {
namespace {

using ::testing::Contains;
using ::testing::Each;

using Names = std::vector<std::string>;
using ChainChange = std::function<void(SamplingParams&)>;

const Names kDefault = {"penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"};

SamplingParams ChainParamsWith(const ChainChange& change) {
  SamplingParams params;
  params.top_logprobs = -1;
  change(params);
  return params;
}

std::vector<int32_t> PickManyByChain(const SamplingParams& params, const std::vector<float>& row,
                                     int64_t num_positions = 60, const std::vector<int32_t>& output = {}) {
  Result<Sampler> sampler = Sampler::Create(params, static_cast<int64_t>(row.size()));
  EXPECT_TRUE(sampler.ok()) << sampler.status().ToString();
  std::vector<int32_t> ids;
  for (int64_t position = 0; position < num_positions; ++position) {
    const auto token = sampler->Sample(row, {}, output, position);
    EXPECT_TRUE(token.ok());
    ids.push_back(token->id);
  }
  return ids;
}

TEST(SamplerChain, DefaultOrderIsTheStatedOne) {
  Names names;
  for (const ChainStep& step : ChainSteps()) names.emplace_back(step.name);
  EXPECT_EQ(names, kDefault);
  EXPECT_EQ(FindChainStep("top_k")->name, "top_k");
  EXPECT_EQ(FindChainStep("top-k"), nullptr);
}

// Settings drawn from raw bits, so that every standard library makes the same ones.
uint64_t HashOfPicks(const ChainChange& change) {
  std::mt19937 rng(7);
  uint64_t hash = 1469598103934665603u;  // FNV-1a
  for (int round = 0; round < 400; ++round) {
    std::vector<float> row(2 + rng() % 3000);
    const float scale = static_cast<float>(1 + rng() % 8) / 65536.0f;
    for (float& logit : row) logit = (static_cast<float>(rng() % 65536) * 2 - 65536.0f) * scale;
    std::vector<int32_t> prompt(rng() % 40);
    for (int32_t& token : prompt) token = static_cast<int32_t>(rng() % row.size());
    std::vector<int32_t> output(rng() % 40);
    for (int32_t& token : output) token = static_cast<int32_t>(rng() % row.size());
    SamplingParams params;
    params.seed = round;
    if (rng() % 2 == 1) params.repetition_penalty = 1.3;
    if (rng() % 2 == 1) params.frequency_penalty = 0.5;
    if (rng() % 2 == 1) params.top_k = static_cast<int64_t>(1 + rng() % row.size());
    if (rng() % 2 == 1) params.top_p = static_cast<double>(rng() % 100) / 100;
    if (rng() % 2 == 1) params.min_p = static_cast<double>(rng() % 20) / 100;
    params.temperature = static_cast<double>(rng() % 5) / 2;
    if (rng() % 3 == 0) params.logit_bias = {{0, 3.0}, {1, -3.0}};
    change(params);
    Result<Sampler> sampler = Sampler::Create(params, static_cast<int64_t>(row.size()));
    for (int64_t position = 0; position < 20; ++position) {
      const auto token = sampler->Sample(row, prompt, output, position);
      hash = (hash ^ static_cast<uint64_t>(token->id)) * 1099511628211u;
    }
  }
  return hash;
}

// The tokens of a chain of penalties, top_k, top_p, min_p and temperature alone: steps that are off leave no trace.
TEST(SamplerChain, StepsThatAreOffChangeNoToken) {
  constexpr uint64_t kHash = 16086518505330872676u;
  EXPECT_EQ(HashOfPicks([](auto&) {}), kHash);
  EXPECT_EQ(HashOfPicks([](auto& p) { p.samplers = kDefault; }), kHash);
  EXPECT_EQ(HashOfPicks([](auto& p) {
              p.samplers = Names{"penalties", "top_k", "top_p", "min_p", "temperature"};
            }),
            kHash);
  EXPECT_EQ(HashOfPicks([](auto& p) {
              p.dry_base = 3, p.xtc_threshold = 0.01, p.mirostat_tau = 1, p.dynatemp_exponent = 9, p.top_n_sigma = -7;
            }),
            kHash);
}

TEST(SamplerChain, StepsThatAreNotNamedDoNotAct) {
  const std::vector<float> row = LogsOf({0.4, 0.3, 0.2, 0.1});
  const ChainChange all = [](auto& p) { p.top_k = 1, p.temperature = 0, p.top_p = 0, p.repetition_penalty = 10; };
  EXPECT_THAT(PickManyByChain(ChainParamsWith(all), row), Each(0));
  const SamplingParams none = ChainParamsWith([&](auto& p) { all(p), p.samplers = Names{}; });
  EXPECT_FALSE(IsGreedy(none));
  EXPECT_EQ(PickManyByChain(none, row), PickManyByChain(ChainParamsWith([](auto&) {}), row)) << "drawn from the model";
}

// {0.4, 0.3, 0.2, 0.1}: with top_k = 2 first, 0.55 of what is left is the best alone, 4/7; with top_p first two stay.
TEST(SamplerChain, OrderIsHonoured) {
  const std::vector<float> row = LogsOf({0.4, 0.3, 0.2, 0.1});
  const auto picks = [&](Names names) {
    return PickManyByChain(
        ChainParamsWith([&](auto& p) { p.top_k = 2, p.top_p = 0.55, p.samplers = std::move(names); }), row);
  };
  EXPECT_THAT(picks({"top_k", "top_p"}), Each(0));
  EXPECT_THAT(picks({"top_p", "top_k"}), Contains(1));
  // At temperature 2 the best two have less than 0.6 of the probability, and a third is needed.
  const auto with_temperature = [&](Names names) {
    return PickManyByChain(
        ChainParamsWith([&](auto& p) { p.temperature = 2, p.top_p = 0.65, p.samplers = std::move(names); }), row);
  };
  EXPECT_THAT(with_temperature({"top_p", "temperature"}), Each(testing::Le(1)));
  EXPECT_THAT(with_temperature({"temperature", "top_p"}), Contains(2));
}

// A step that takes the best ends the chain where it stands: what comes later has one token to work on.
TEST(SamplerChain, GreedyStepsActWhereTheyStand) {
  const std::vector<float> row = LogsOf({0.4, 0.3, 0.2, 0.1});
  const std::vector<int32_t> output = {0};
  for (const ChainChange& greedy : std::vector<ChainChange>{[](auto& p) { p.top_k = 1; }, [](auto& p) { p.top_p = 0; },
                                                            [](auto& p) { p.temperature = 0; }}) {
    const auto picks = [&](Names names) {
      return PickManyByChain(
          ChainParamsWith([&](auto& p) { greedy(p), p.presence_penalty = 2, p.samplers = std::move(names); }), row, 20,
          output);
    };
    EXPECT_THAT(picks({"penalties", "top_k", "top_p", "temperature"}), Each(1));
    EXPECT_THAT(picks({"top_k", "top_p", "temperature", "penalties"}), Each(0));
  }
}

// The best of the two that top_k keeps, not of the row: the penalty comes later.
TEST(SamplerChain, GreedySamplersKeepFiltersBeforeStepsThatReorder) {
  const std::vector<float> row = LogsOf({0.4, 0.3, 0.2, 0.1});
  const std::vector<int32_t> output = {0, 1};
  const auto picks = [&](Names names) {
    return PickManyByChain(ChainParamsWith([&](auto& p) {
                             p.temperature = 0, p.top_k = 2, p.presence_penalty = 2, p.samplers = std::move(names);
                           }),
                           row, 20, output);
  };
  EXPECT_THAT(picks({"penalties", "top_k", "temperature"}), Each(2));
  EXPECT_THAT(picks({"top_k", "penalties", "temperature"}), Each(0));
}

// The entropy of {0.5, 0.25, 0.125, 0.125} is nearest the surprise of 0.25.
TEST(SamplerChain, GreedyTakesTheBestOfTheTypical) {
  const std::vector<float> row = LogsOf({0.5, 0.25, 0.125, 0.125});
  EXPECT_THAT(PickManyByChain(ChainParamsWith([](auto& p) { p.temperature = 0, p.typical_p = 0.2; }), row), Each(1));
  EXPECT_THAT(PickManyByChain(ChainParamsWith([](auto& p) { p.top_k = 1, p.typical_p = 0.2; }), row), Each(0))
      << "comes first";
}

TEST(SamplerChain, ATemperatureOfZeroIsGreedyWhateverItsRange) {
  const std::vector<float> row = {1, 1.1f, 1};
  EXPECT_THAT(PickManyByChain(ChainParamsWith([](auto& p) { p.temperature = 0, p.dynatemp_range = 5; }), row), Each(1));
}

}  // namespace
}  // namespace adit::sample
