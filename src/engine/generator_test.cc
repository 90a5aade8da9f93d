#include "engine/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/loaded_model.h"
#include "engine/model_runner.h"

namespace adit::engine {
namespace {

using testing::HasSubstr;

class GeneratorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto model = LoadedModel::Load(
        {.path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/llama.gguf", .isa = "ref", .num_threads = 2});
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    model_ = std::move(model).value();
    auto runner = ModelRunner::Create(*model_, {.kv_tokens = kContext, .max_batch_tokens = 8});
    ASSERT_TRUE(runner.ok()) << runner.status().ToString();
    runner_ = std::move(runner).value();
  }

  struct Answer {
    std::vector<int32_t> tokens;
    GenerateStats stats;
  };
  Result<Answer> Ask(Generator& generator, const std::vector<int32_t>& prompt, GenerateOptions options,
                     size_t stop_after = SIZE_MAX) {
    options.context_length = kContext;
    options.sampling.temperature = 0.0;
    Answer answer;
    const auto on_token = [&](const sample::SampledToken& token) {
      answer.tokens.push_back(token.id);
      return answer.tokens.size() < stop_after;
    };
    ADIT_ASSIGN_OR_RETURN(answer.stats, generator.Generate(prompt, options, on_token, [] { return false; }));
    return answer;
  }

  static std::vector<int32_t> Prompt(int32_t length) {
    std::vector<int32_t> tokens;
    for (int32_t i = 0; i < length; ++i) tokens.push_back((i * 37 + 11) % 256);
    return tokens;
  }

  static constexpr int64_t kContext = 128;
  std::unique_ptr<LoadedModel> model_;
  std::unique_ptr<ModelRunner> runner_;
};

TEST_F(GeneratorTest, StopsAtMaxTokens) {
  for (int64_t max_tokens : {0, 1, 5}) {
    Generator generator(*runner_);
    const auto answer = Ask(generator, Prompt(20), {.max_tokens = max_tokens, .ignore_eos = true});
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ(answer->tokens.size(), static_cast<size_t>(max_tokens));
    EXPECT_EQ(answer->stats.reason, FinishReason::kLength);
    EXPECT_EQ(answer->stats.prompt_tokens, 20);
  }
}

TEST_F(GeneratorTest, StopsWhereTheContextEnds) {
  for (int32_t length : {1, 126, 127}) {
    Generator generator(*runner_);
    const auto answer = Ask(generator, Prompt(length), {.ignore_eos = true});
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ(answer->tokens.size(), static_cast<size_t>(kContext - length));
    EXPECT_EQ(answer->stats.reason, FinishReason::kLength);
  }
}

TEST_F(GeneratorTest, RefusesWhatDoesNotFitAndGoesOn) {
  Generator generator(*runner_);
  const auto refused = Ask(generator, Prompt(128), {});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("128 tokens"));
  EXPECT_EQ(Ask(generator, {}, {}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Ask(generator, {5, 100000}, {}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Ask(generator, Prompt(10), {.max_tokens = 2}).ok());
}

TEST_F(GeneratorTest, ReusesASharedPrefixWithTheSameResult) {
  Generator generator(*runner_);
  const GenerateOptions options{.max_tokens = 12, .ignore_eos = true};
  const auto first = Ask(generator, Prompt(40), options);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->stats.cached_tokens, 0);

  std::vector<int32_t> longer = Prompt(40);
  longer.insert(longer.end(), first->tokens.begin(), first->tokens.end());
  for (int32_t token : {7, 8, 9}) longer.push_back(token);
  const auto second = Ask(generator, longer, options);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->stats.cached_tokens, 40 + 11);  // the last token of an answer is never run

  Generator fresh(*runner_);
  const auto cold = Ask(fresh, longer, options);
  ASSERT_FALSE(cold.ok());  // the pool is one sequence large
  EXPECT_EQ(cold.status().code(), StatusCode::kResourceExhausted);
}

TEST_F(GeneratorTest, CachedAndColdPromptsGiveTheSameAnswer) {
  std::vector<int32_t> prompt = Prompt(30);
  const GenerateOptions options{.max_tokens = 10, .ignore_eos = true};
  std::vector<int32_t> cold;
  {
    Generator generator(*runner_);
    prompt.push_back(99);
    cold = Ask(generator, prompt, options)->tokens;
  }
  Generator generator(*runner_);
  ASSERT_TRUE(Ask(generator, Prompt(40), options).ok());
  const auto warm = Ask(generator, prompt, options);
  ASSERT_TRUE(warm.ok());
  EXPECT_EQ(warm->stats.cached_tokens, 30);
  EXPECT_EQ(warm->tokens, cold);
  const auto again = Ask(generator, prompt, options);
  EXPECT_EQ(again->stats.cached_tokens, 30);
  EXPECT_EQ(again->tokens, cold);
}

TEST_F(GeneratorTest, CallerStopsIt) {
  Generator generator(*runner_);
  const auto answer = Ask(generator, Prompt(20), {.ignore_eos = true}, 3);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->tokens.size(), 3u);
  EXPECT_EQ(answer->stats.reason, FinishReason::kCancelled);

  const auto stats = generator.Generate(
      Prompt(30), {.context_length = kContext}, [](const sample::SampledToken&) { return true; }, [] { return true; });
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->reason, FinishReason::kCancelled);
  EXPECT_EQ(stats->generated_tokens, 0);
}

TEST_F(GeneratorTest, GivesItsPagesBack) {
  {
    Generator generator(*runner_);
    ASSERT_TRUE(Ask(generator, Prompt(50), {.max_tokens = 5}).ok());
    EXPECT_LT(runner_->pool().num_free(), runner_->pool().num_blocks());
  }
  EXPECT_EQ(runner_->pool().num_free(), runner_->pool().num_blocks());
}

}  // namespace
}  // namespace adit::engine
