#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "sample/allowed_tokens.h"
#include "sample/bad_words.h"
#include "sample/no_repeat_ngram.h"
#include "sample/sampler.h"
#include "sample/test_rows.h"

// What bans tokens whatever the chain is: allowed_token_ids, bad_words and no_repeat_ngram_size.
namespace adit::sample {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Tokens = std::vector<int32_t>;

// The tokens that can be picked of `vocab_size` equal ones.
Tokens PickableAfter(const Processor& ban, int64_t vocab_size, const Tokens& prompt, const Tokens& output) {
  Candidates candidates = MakeCandidates(std::vector<float>(static_cast<size_t>(vocab_size), 1.0f));
  SampleScratch scratch;
  EXPECT_FALSE(ban.KeepsBest());
  ban.Apply({prompt, output, scratch}, candidates);
  Tokens ids;
  for (int64_t i = 0; i < candidates.size(); ++i) {
    if (CanBePicked(candidates.logits()[static_cast<size_t>(i)])) ids.push_back(candidates.id(i));
  }
  return ids;
}

std::unique_ptr<Processor> Ngram(int64_t size) {
  SamplingParams params;
  params.no_repeat_ngram_size = size;
  return MakeNoRepeatNgram(params);
}

std::unique_ptr<Processor> Bad(std::vector<Tokens> sequences) {
  SamplingParams params;
  params.bad_words = std::move(sequences);
  return MakeBadWords(params);
}

TEST(Bans, AreNoStepsWhenOff) {
  EXPECT_EQ(MakeAllowedTokens({}), nullptr);
  EXPECT_EQ(MakeBadWords({}), nullptr);
  EXPECT_EQ(MakeNoRepeatNgram({}), nullptr);
}

TEST(AllowedTokens, AreTheOnlyOnes) {
  SamplingParams params;
  params.allowed_token_ids = {4, 1, 4, 0};
  EXPECT_THAT(PickableAfter(*MakeAllowedTokens(params), 6, {}, {}), ElementsAre(0, 1, 4));
  const Candidates kept = Apply(*MakeAllowedTokens(params), MakeCandidates({5, 6, 7, 8, 9, 10}));
  EXPECT_THAT(LogitsOf(kept), ElementsAre(5, 6, 9));
}

TEST(BadWords, BanTheLastTokenAfterTheOthers) {
  const auto ban = Bad({{3}, {0, 1, 2}, {1, 4}});
  EXPECT_THAT(PickableAfter(*ban, 5, {}, {}), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(PickableAfter(*ban, 5, {0}, {1}), ElementsAre(0, 1)) << "across prompt and output";
  EXPECT_THAT(PickableAfter(*ban, 5, {}, {2, 1}), ElementsAre(0, 1, 2));
  EXPECT_THAT(PickableAfter(*ban, 5, {0, 1}, {0}), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(PickableAfter(*Bad({{0, 1, 2, 3}}), 5, {1}, {2}), ElementsAre(0, 1, 2, 3, 4)) << "a short history";
}

TEST(NoRepeatNgram, BansWhatFollowedTheLastTokensBefore) {
  EXPECT_THAT(PickableAfter(*Ngram(2), 4, {0, 1, 0}, {2, 0}), ElementsAre(0, 3));
  EXPECT_THAT(PickableAfter(*Ngram(3), 4, {0, 1, 2}, {0, 1}), ElementsAre(0, 1, 3));
  EXPECT_THAT(PickableAfter(*Ngram(4), 4, {0, 1, 2}, {0, 1}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(PickableAfter(*Ngram(1), 4, {3}, {1, 1}), ElementsAre(0, 2)) << "every token once";
  EXPECT_THAT(PickableAfter(*Ngram(2), 4, {}, {}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(PickableAfter(*Ngram(3), 4, {2}, {2, 2}), ElementsAre(0, 1, 3)) << "the sequence overlaps itself";
  EXPECT_THAT(PickableAfter(*Ngram(1), 3, {0, 1, 2}, {}), IsEmpty());
}

// The definition: a token is banned when the sequence that it completes stands in the history.
TEST(NoRepeatNgram, AgreesWithBruteForceOnRandomHistories) {
  std::mt19937 rng(1);
  for (int round = 0; round < 1'000; ++round) {
    const auto vocab_size = static_cast<int32_t>(1 + rng() % 4);
    Tokens all(rng() % 40);
    for (int32_t& token : all) token = static_cast<int32_t>(rng() % static_cast<uint32_t>(vocab_size));
    const auto split = static_cast<std::ptrdiff_t>(rng() % (all.size() + 1));
    const size_t size = 1 + rng() % 5;
    Tokens expected;
    for (int32_t token = 0; token < vocab_size; ++token) {
      Tokens longer = all;
      longer.push_back(token);
      bool repeats = false;
      if (longer.size() > size) {
        const Tokens end(longer.end() - static_cast<std::ptrdiff_t>(size), longer.end());
        repeats = std::search(all.begin(), all.end(), end.begin(), end.end()) != all.end();
      }
      if (!repeats) expected.push_back(token);
    }
    ASSERT_EQ(PickableAfter(*Ngram(static_cast<int64_t>(size)), vocab_size, {all.begin(), all.begin() + split},
                            {all.begin() + split, all.end()}),
              expected)
        << "round " << round;
  }
}

TEST(Bans, HoldWhateverTheChainIs) {
  for (const double temperature : {0.0, 2.0}) {
    SamplingParams params;
    params.temperature = temperature;
    params.allowed_token_ids = {0, 1, 2, 3};
    params.bad_words = {{0, 1}};
    params.no_repeat_ngram_size = 2;
    params.logit_bias = {{1, 100}, {3, -100}};
    params.top_k = 4;
    params.repetition_penalty = 0.1;
    params.samplers = std::vector<std::string>{"top_k", "temperature", "penalties"};
    Result<Sampler> sampler = Sampler::Create(params, 6);
    ASSERT_TRUE(sampler.ok());
    const Tokens prompt = {0, 2};
    const Tokens output = {0};
    for (int64_t position = 0; position < 100; ++position) {
      const auto token = sampler->Sample(std::vector<float>{1, 9, 8, -40, 50, 60}, prompt, output, position);
      ASSERT_TRUE(token.ok());
      ASSERT_THAT(token->id, testing::AnyOf(0, 3));
    }
  }
}

TEST(Bans, SayWhichLeavesNoToken) {
  const auto message = [](const SamplingParams& params, const Tokens& output) {
    Result<Sampler> sampler = Sampler::Create(params, 3);
    const Status status = sampler->Sample(std::vector<float>{1, 2, kTestNaN}, {}, output, 8).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  SamplingParams params;
  params.allowed_token_ids = {2};
  EXPECT_THAT(message(params, {}), HasSubstr("position 8: allowed_token_ids leaves no token"));
  params = {};
  params.bad_words = {{0}, {1}};
  EXPECT_THAT(message(params, {}), HasSubstr("position 8: bad_words leaves no token"));
  params = {};
  params.no_repeat_ngram_size = 1;
  EXPECT_THAT(message(params, {1, 0}), HasSubstr("position 8: no_repeat_ngram_size leaves no token"));
}

// The mask of a grammar.
TEST(Mask, HoldsWhateverTheChainIs) {
  const std::vector<float> row = {9, 1, 2, 8};
  const std::vector<uint32_t> mask = {0b0110};
  for (const double temperature : {0.0, 1.0}) {
    SamplingParams params{.temperature = temperature};
    params.repetition_penalty = 1.5;
    Sampler sampler = *Sampler::Create(params, 4);
    std::set<int32_t> picked;
    for (int64_t position = 0; position < 200; ++position) {
      const Result<SampledToken> token = sampler.Sample(row, {}, {}, position, {}, mask);
      ASSERT_TRUE(token.ok());
      // Of the model's own logits, among which the others are.
      EXPECT_LT(token->logprob, -5);
      picked.insert(token->id);
    }
    EXPECT_THAT(Tokens(picked.begin(), picked.end()),
                ::testing::ElementsAreArray(temperature == 0.0 ? Tokens{2} : Tokens{1, 2}));
  }
}

TEST(Mask, GoesWithTheOtherBansAndFailsByNameWhereNothingIsLeft) {
  Sampler sampler = *Sampler::Create({.allowed_token_ids = {0, 2}, .temperature = 0}, 4);
  const std::vector<float> row = {9, 1, 2, 8};
  EXPECT_EQ(sampler.Sample(row, {}, {}, 0, {}, std::vector<uint32_t>{0b1110})->id, 2);
  const Status status = sampler.Sample(row, {}, {}, 0, {}, std::vector<uint32_t>{0b1010}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("grammar"));
}

}  // namespace
}  // namespace adit::sample
