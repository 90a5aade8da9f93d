#include "sample/sampling_params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace adit::sample {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kParamsVocabSize = 1'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using ParamsChange = std::function<void(SamplingParams&)>;

Status ValidateWith(const ParamsChange& change) {
  SamplingParams params;
  change(params);
  return Validate(params, kParamsVocabSize);
}

void ExpectRefused(const ParamsChange& change, const std::string& field, const std::string& value,
                   const std::string& range) {
  const Status status = ValidateWith(change);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(field), HasSubstr(value), HasSubstr(range)));
}

TEST(SamplingParams, DefaultsAreValidAndDrawFromTheModel) {
  const SamplingParams params;
  EXPECT_TRUE(Validate(params, 1).ok());
  EXPECT_FALSE(IsGreedy(params));
}

TEST(SamplingParams, EndsOfRangesAreValid) {
  EXPECT_TRUE(ValidateWith([](auto& p) { p.temperature = 0; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.temperature = 1e-300; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.temperature = 2; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.top_k = -1; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.top_k = kParamsVocabSize; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.top_p = 0; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.min_p = 1; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.repetition_penalty = 10; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.repetition_penalty = 1e-9; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.repeat_last_n = 0; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.presence_penalty = -2; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.frequency_penalty = 2; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.logit_bias = {{0, 100}, {999, -kInfinity}, {5, -100}}; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.logit_bias.assign(kMaxLogitBiases, {1, 1}); }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.seed = std::numeric_limits<int64_t>::min(); }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.top_logprobs = -1; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.top_logprobs = 20; }).ok());
}

TEST(SamplingParams, RefusalsNameFieldValueAndRange) {
  ExpectRefused([](auto& p) { p.temperature = -0.5; }, "temperature", "-0.5", "[0, 2]");
  ExpectRefused([](auto& p) { p.temperature = 2.01; }, "temperature", "2.01", "[0, 2]");
  ExpectRefused([](auto& p) { p.top_k = -2; }, "top_k", "-2", "-1..1000");
  ExpectRefused([](auto& p) { p.top_k = 1'001; }, "top_k", "1001", "-1..1000");
  ExpectRefused([](auto& p) { p.top_p = 1.5; }, "top_p", "1.5", "[0, 1]");
  ExpectRefused([](auto& p) { p.top_p = -0.1; }, "top_p", "-0.1", "[0, 1]");
  ExpectRefused([](auto& p) { p.min_p = 1.1; }, "min_p", "1.1", "[0, 1]");
  ExpectRefused([](auto& p) { p.repetition_penalty = 0; }, "repetition_penalty", "0", "(0, 10]");
  ExpectRefused([](auto& p) { p.repetition_penalty = 10.5; }, "repetition_penalty", "10.5", "(0, 10]");
  ExpectRefused([](auto& p) { p.repeat_last_n = -2; }, "repeat_last_n", "-2", "-1..");
  ExpectRefused([](auto& p) { p.presence_penalty = 2.5; }, "presence_penalty", "2.5", "[-2, 2]");
  ExpectRefused([](auto& p) { p.frequency_penalty = -3; }, "frequency_penalty", "-3", "[-2, 2]");
  ExpectRefused([](auto& p) { p.logit_bias = {{1'000, 1}}; }, "logit_bias", "1000", "0..999");
  ExpectRefused([](auto& p) { p.logit_bias = {{-1, 1}}; }, "logit_bias", "-1", "0..999");
  ExpectRefused([](auto& p) { p.logit_bias = {{7, 100.5}}; }, "logit_bias", "100.5", "[-100, 100]");
  ExpectRefused([](auto& p) { p.logit_bias.resize(1'025); }, "logit_bias", "1025", "1024");
  ExpectRefused([](auto& p) { p.top_logprobs = 21; }, "top_logprobs", "21", "-1..20");
  ExpectRefused([](auto& p) { p.top_logprobs = -2; }, "top_logprobs", "-2", "-1..20");
}

TEST(SamplingParams, EndsOfRangesOfTheOtherStepsAreValid) {
  EXPECT_TRUE(ValidateWith([](auto& p) { p.typical_p = 1e-9; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.top_n_sigma = -1e9; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.xtc_probability = 1, p.xtc_threshold = 1; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.xtc_threshold = 0; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.dry_multiplier = 1e300, p.dry_base = 1.0001; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.dry_allowed_length = 0, p.dry_penalty_last_n = 0; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) {
                p.dry_sequence_breakers.tokens.assign(kParamsVocabSize, 999);
                p.dry_sequence_breakers.sequences.assign(kMaxDryBreakerSequences, std::vector<int32_t>(64));
              }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.mirostat = 2, p.mirostat_tau = 1e-9, p.mirostat_eta = 1; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.dynatemp_range = 1e9, p.dynatemp_exponent = 0; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.no_repeat_ngram_size = 64; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.bad_words.assign(kMaxBadWords, std::vector<int32_t>(256, 999)); }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.allowed_token_ids = {999, 0, 0}; }).ok());
  EXPECT_TRUE(ValidateWith([](auto& p) { p.samplers.emplace(); }).ok());
}

TEST(SamplingParams, RefusalsOfTheOtherStepsNameFieldValueAndRange) {
  ExpectRefused([](auto& p) { p.typical_p = 0; }, "typical_p", "0", "(0, 1]");
  ExpectRefused([](auto& p) { p.typical_p = 1.5; }, "typical_p", "1.5", "(0, 1]");
  ExpectRefused([](auto& p) { p.xtc_probability = -0.5; }, "xtc_probability", "-0.5", "[0, 1]");
  ExpectRefused([](auto& p) { p.xtc_threshold = 1.5; }, "xtc_threshold", "1.5", "[0, 1]");
  ExpectRefused([](auto& p) { p.dry_multiplier = -0.5; }, "dry_multiplier", "-0.5", "from 0");
  ExpectRefused([](auto& p) { p.dry_base = 1; }, "dry_base", "1", "above 1");
  ExpectRefused([](auto& p) { p.dry_allowed_length = -1; }, "dry_allowed_length", "-1", "0..");
  ExpectRefused([](auto& p) { p.dry_penalty_last_n = -2; }, "dry_penalty_last_n", "-2", "-1..");
  ExpectRefused([](auto& p) { p.dry_sequence_breakers.tokens = {1'000}; }, "dry_sequence_breakers", "1000", "0..999");
  ExpectRefused([](auto& p) { p.dry_sequence_breakers.tokens.resize(1'001); }, "dry_sequence_breakers", "1001", "1000");
  ExpectRefused([](auto& p) { p.dry_sequence_breakers.sequences = {{}}; }, "dry_sequence_breakers", "0", "1..64");
  ExpectRefused([](auto& p) { p.dry_sequence_breakers.sequences = {std::vector<int32_t>(65)}; },
                "dry_sequence_breakers", "65", "1..64");
  ExpectRefused([](auto& p) { p.dry_sequence_breakers.sequences.assign(16'385, {1}); }, "dry_sequence_breakers",
                "16385", "16384");
  ExpectRefused([](auto& p) { p.mirostat = 3; }, "mirostat", "3", "0..2");
  ExpectRefused([](auto& p) { p.mirostat_tau = 0; }, "mirostat_tau", "0", "above 0");
  ExpectRefused([](auto& p) { p.mirostat_eta = 1.5; }, "mirostat_eta", "1.5", "(0, 1]");
  ExpectRefused([](auto& p) { p.dynatemp_range = -1; }, "dynatemp_range", "-1", "from 0");
  ExpectRefused([](auto& p) { p.dynatemp_exponent = -1; }, "dynatemp_exponent", "-1", "from 0");
  ExpectRefused([](auto& p) { p.no_repeat_ngram_size = 65; }, "no_repeat_ngram_size", "65", "0..64");
  ExpectRefused([](auto& p) { p.bad_words = {{1}, {2, -1}}; }, "bad_words", "-1", "0..999");
  ExpectRefused([](auto& p) { p.bad_words = {{}}; }, "bad_words", "0", "1..256");
  ExpectRefused([](auto& p) { p.bad_words.assign(1'025, {1}); }, "bad_words", "1025", "1024");
  ExpectRefused([](auto& p) { p.allowed_token_ids = {1'000}; }, "allowed_token_ids", "1000", "0..999");
  ExpectRefused([](auto& p) { p.allowed_token_ids.resize(1'001); }, "allowed_token_ids", "1001", "1000");
}

TEST(SamplingParams, RefusesUnknownSamplersAndThoseGivenTwiceByName) {
  const auto with = [](std::vector<std::string> samplers) {
    return [samplers](SamplingParams& p) { p.samplers = samplers; };
  };
  ExpectRefused(with({"top_k", "top_q"}), "samplers", "'top_q'",
                "penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, xtc, temperature");
  ExpectRefused(with({""}), "samplers", "''", "penalties");
  ExpectRefused(with({"xtc", "top_k", "xtc"}), "samplers", "'xtc'", "more than once");
  ExpectRefused(with({std::string(1'000, 'x') + "\n"}), "samplers", "'" + std::string(40, 'x') + "'", "penalties");
  ExpectRefused(with({"a\xff\n"}), "samplers", std::string("'a?") + "?'", "penalties");
}

TEST(SamplingParams, RefusesWhatIsNoNumber) {
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.temperature = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.top_p = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.min_p = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.repetition_penalty = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.presence_penalty = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.frequency_penalty = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.typical_p = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.top_n_sigma = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.xtc_probability = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.xtc_threshold = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.dry_multiplier = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.dry_base = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.mirostat_tau = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.mirostat_eta = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.dynatemp_range = bad; }).ok());
    EXPECT_FALSE(ValidateWith([&](auto& p) { p.dynatemp_exponent = bad; }).ok());
  }
  EXPECT_FALSE(ValidateWith([](auto& p) { p.logit_bias = {{1, kNaN}}; }).ok());
  EXPECT_FALSE(ValidateWith([](auto& p) { p.logit_bias = {{1, kInfinity}}; }).ok());
}

TEST(SamplingParams, RefusesVocabulariesOfNoSize) {
  for (const int64_t vocab_size : {int64_t{0}, int64_t{-1}, int64_t{1} << 31}) {
    EXPECT_THAT(Validate({}, vocab_size).message(), HasSubstr("vocab_size"));
  }
}

TEST(SamplingParams, LimitsMayBeSet) {
  SamplingParams params;
  params.temperature = 100;
  params.top_logprobs = 1'000;
  EXPECT_TRUE(Validate(params, kParamsVocabSize, {.max_temperature = 100, .max_top_logprobs = 1'000}).ok());
  EXPECT_FALSE(Validate(params, kParamsVocabSize, {.max_temperature = 99, .max_top_logprobs = 1'000}).ok());
  EXPECT_FALSE(Validate(params, kParamsVocabSize, {.max_temperature = 100, .max_top_logprobs = 999}).ok());
}

TEST(SamplingParams, GreedyMeansThatNothingIsDrawn) {
  const auto greedy = [](const ParamsChange& change) {
    SamplingParams params;
    change(params);
    return IsGreedy(params);
  };
  EXPECT_TRUE(greedy([](auto& p) { p.temperature = 0; }));
  EXPECT_TRUE(greedy([](auto& p) { p.temperature = 1e-12; }));
  EXPECT_FALSE(greedy([](auto& p) { p.temperature = kGreedyTemperature; }));
  EXPECT_TRUE(greedy([](auto& p) { p.top_k = 1; }));
  EXPECT_FALSE(greedy([](auto& p) { p.top_k = 2; }));
  EXPECT_TRUE(greedy([](auto& p) { p.top_p = 0; }));
}

}  // namespace
}  // namespace adit::sample
