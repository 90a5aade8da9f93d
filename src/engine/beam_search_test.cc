#include "engine/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace adit::engine {
namespace {

constexpr int32_t kEnd = 0;
constexpr int32_t kVocab = 3;

// Log probabilities of the next token after each sequence, random but fixed.
class RandomModel {
 public:
  explicit RandomModel(uint32_t seed) : rng_(seed) {}

  const std::vector<double>& Next(const std::vector<int32_t>& tokens) {
    std::vector<double>& row = rows_[tokens];
    if (row.empty()) {
      double sum = 0.0;
      for (int32_t i = 0; i < kVocab; ++i) row.push_back(0.05 + static_cast<double>(rng_() % 1000) / 1000.0);
      for (const double p : row) sum += p;
      for (double& p : row) p = std::log(p / sum);
    }
    return row;
  }

 private:
  std::mt19937 rng_;
  std::map<std::vector<int32_t>, std::vector<double>> rows_;
};

std::vector<BeamSearch::Answer> Search(RandomModel& model, const BeamSearchParams& params, int64_t max_tokens,
                                       size_t count) {
  BeamSearch search(params, max_tokens, {kEnd});
  std::vector<std::vector<int32_t>> beams = {{}};
  while (!search.done()) {
    EXPECT_EQ(search.num_beams(), beams.size());
    std::vector<std::vector<sample::TokenLogprob>> likeliest;
    for (const auto& beam : beams) {
      auto& tokens = likeliest.emplace_back();
      for (int32_t i = 0; i < kVocab; ++i) tokens.push_back({i, model.Next(beam)[static_cast<size_t>(i)]});
      std::stable_sort(tokens.begin(), tokens.end(),
                       [](const auto& a, const auto& b) { return a.logprob > b.logprob; });
    }
    std::vector<std::vector<int32_t>> next;
    for (const BeamSearch::Move& move : search.Step(likeliest)) {
      next.push_back(beams[static_cast<size_t>(move.parent)]);
      next.back().push_back(move.token);
    }
    beams = std::move(next);
  }
  return search.Best(count);
}

// Every answer of at most max_tokens tokens, the best first.
std::vector<BeamSearch::Answer> AllAnswers(RandomModel& model, double length_penalty, int64_t max_tokens) {
  std::vector<BeamSearch::Answer> answers;
  const std::function<void(std::vector<int32_t>, double)> extend = [&](std::vector<int32_t> tokens, double sum) {
    const std::vector<double> row = model.Next(tokens);
    for (int32_t token = 0; token < kVocab; ++token) {
      std::vector<int32_t> longer = tokens;
      longer.push_back(token);
      const double longer_sum = sum + row[static_cast<size_t>(token)];
      const auto length = static_cast<int64_t>(longer.size());
      if (token != kEnd && length < max_tokens) {
        extend(longer, longer_sum);
        continue;
      }
      answers.push_back({.tokens = longer,
                         .sum = longer_sum,
                         .score = longer_sum / std::pow(static_cast<double>(length), length_penalty),
                         .reason = token == kEnd ? FinishReason::kStop : FinishReason::kLength});
    }
  };
  extend({}, 0.0);
  std::stable_sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return answers;
}

TEST(BeamSearch, IsExhaustiveWhenItIsWideEnough) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    for (const double length_penalty : {0.0, 0.7, 1.0, 2.0}) {
      RandomModel model(seed);
      // 2 tokens that do not end, 3 steps: at most 8 beams; 16 leave room for all that end.
      const BeamSearchParams params{
          .width = 16, .length_penalty = length_penalty, .early_stopping = EarlyStopping::kNever};
      const auto got = Search(model, params, 3, 5);
      const auto want = AllAnswers(model, length_penalty, 3);
      ASSERT_EQ(got.size(), 5u);
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].tokens, want[i].tokens) << "seed " << seed << " answer " << i;
        EXPECT_DOUBLE_EQ(got[i].score, want[i].score);
        EXPECT_EQ(got[i].reason, want[i].reason);
      }
    }
  }
}

TEST(BeamSearch, NeverFindsBetterThanTheBestAndStopsEarlyAsTold) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    RandomModel model(seed);
    const auto all = AllAnswers(model, 1.0, 8);
    double last_score = -1e300;
    for (const EarlyStopping stopping : {EarlyStopping::kWhenDone, EarlyStopping::kHeuristic, EarlyStopping::kNever}) {
      const auto got = Search(model, {.width = 2, .early_stopping = stopping}, 8, 2);
      ASSERT_FALSE(got.empty());
      EXPECT_LE(got.front().score, all.front().score + 1e-12);
      EXPECT_GE(got.front().score, last_score - 1e-12) << "searching on found a worse answer";
      last_score = got.front().score;
    }
  }
}

}  // namespace
}  // namespace adit::engine
