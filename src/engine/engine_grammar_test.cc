#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "adit/engine.h"
#include "engine/engine_core.h"
#include "engine/test_engine.h"
#include "grammar/compiler.h"

namespace adit::engine {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kSchema[] = R"({"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":99},
    "b":{"enum":["x","yes","no"]}},"required":["a","b"],"additionalProperties":false})";

class EngineGrammarTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!grammar::Compiler::available()) GTEST_SKIP() << "this build has no XGrammar";
    model_ = LoadGolden("llama");
  }

  static EngineOptions Options() {
    EngineOptions options{.kv_tokens = 2048, .event_capacity = 300};
    options.scheduler.max_context = 400;
    options.scheduler.max_batch_tokens = 32;
    options.scheduler.max_num_seqs = 8;
    return options;
  }

  GrammarPtr Compiled(const GrammarSpec& spec) {
    const Result<GrammarPtr> grammar = model_->grammars().Compile(spec);
    EXPECT_TRUE(grammar.ok()) << grammar.status().message();
    return grammar.ok() ? *grammar : nullptr;
  }

  GenerationRequest Held(GrammarKind kind, const std::string& text, int64_t max_tokens = 60) {
    return {.prompt = {1, 2, 3, 4, 5},
            .sampling = {.temperature = 1.0, .seed = 7},
            .max_tokens = max_tokens,
            .grammar = Compiled({.kind = kind, .text = text, .any_whitespace = false})};
  }

  std::string TextOf(const Told::Answer& answer) const {
    std::string text;
    for (const int32_t token : answer.tokens) text += model_->tokenizer().TokenBytes(token, false);
    return text;
  }

  std::unique_ptr<LoadedModel> model_;
};

TEST_F(EngineGrammarTest, WhateverARandomModelWritesIsValid) {
  TestEngine engine(*model_, Options());
  std::vector<int64_t> ids;
  for (int64_t seed = 0; seed < 12; ++seed) {
    GenerationRequest request = Held(GrammarKind::kJsonSchema, kSchema);
    request.sampling.seed = seed;
    request.sampling.temperature = seed % 3 == 0 ? 0.0 : 1.5;
    request.num_answers = 2;
    ids.push_back(engine.Add(std::move(request)));
  }
  engine.RunAll();
  for (const int64_t id : ids) {
    for (const auto& [index, answer] : engine.told(id).answers) {
      const Json json = Json::parse(TextOf(answer), nullptr, false);
      ASSERT_TRUE(json.is_object()) << TextOf(answer);
      EXPECT_EQ(json.size(), 2);
      EXPECT_TRUE(json["a"].is_number_integer() && json["a"] >= 0 && json["a"] <= 99);
      EXPECT_THAT(json["b"].get<std::string>(), ::testing::AnyOf("x", "yes", "no"));
      EXPECT_EQ(answer.stats.reason, FinishReason::kStop);
      // The text can only end there: no step is spent on a token that says so.
      EXPECT_EQ(answer.stats.stop_token, -1);
    }
  }
}

TEST_F(EngineGrammarTest, TokensAreTheSameWhateverElseRuns) {
  int64_t preemptions = 0;
  const auto run = [&](int num_others, int64_t kv_tokens) {
    EngineOptions options = Options();
    options.kv_tokens = kv_tokens;
    TestEngine engine(*model_, options);
    const int64_t id = engine.Add(Held(GrammarKind::kRegex, "[a-z ]{200}", 150));
    for (int i = 0; i < num_others; ++i) {
      GenerationRequest other = Held(GrammarKind::kJsonObject, "", 100);
      other.prompt.push_back(i);
      engine.Add(std::move(other));
    }
    engine.RunAll();
    preemptions = engine.core().stats().scheduler.preemptions;
    return engine.told(id).answers.at(0);
  };
  const Told::Answer alone = run(0, 2048);
  EXPECT_GT(alone.tokens.size(), 100U);
  EXPECT_EQ(run(5, 2048).tokens, alone.tokens);
  // So little memory that requests are preempted and computed again.
  const Told::Answer crowded = run(7, 480);
  EXPECT_GT(preemptions, 0);
  EXPECT_EQ(crowded.tokens, alone.tokens);
  EXPECT_EQ(crowded.logprobs, alone.logprobs);
}

TEST_F(EngineGrammarTest, LogprobsAreTheModelsOwn) {
  TestEngine engine(*model_, Options());
  GenerationRequest request = Held(GrammarKind::kChoice, R"(["yes","no"])");
  request.sampling.top_logprobs = 5;
  const int64_t id = engine.Add(std::move(request));
  engine.RunAll();
  const Told::Answer& answer = engine.told(id).answers.at(0);
  for (size_t i = 0; i < answer.tokens.size(); ++i) {
    EXPECT_LE(answer.logprobs[i], answer.tops[i].front().logprob);
    EXPECT_EQ(answer.tops[i].size(), 5U);
  }
}

TEST_F(EngineGrammarTest, TheEndOfTheGrammarEndsTheAnswerWithoutEndTokensAndBeforeMinTokens) {
  TestEngine engine(*model_, Options());
  GenerationRequest request = Held(GrammarKind::kRegex, "[0-9]{3}");
  request.ignore_eos = true;
  request.min_tokens = 50;
  const int64_t id = engine.Add(std::move(request));
  engine.RunAll();
  const Told::Answer& answer = engine.told(id).answers.at(0);
  EXPECT_EQ(TextOf(answer).size(), 3U);
  EXPECT_EQ(answer.stats.reason, FinishReason::kStop);
}

TEST_F(EngineGrammarTest, WhereTheTextMayGoOnMinTokensAndIgnoreEosHoldTheEndBack) {
  TestEngine engine(*model_, Options());
  GenerationRequest request = Held(GrammarKind::kRegex, "[0-9]+", 40);
  request.min_tokens = 30;
  const int64_t with_min = engine.Add(request);
  request.min_tokens = 0;
  request.ignore_eos = true;
  const int64_t without_end = engine.Add(std::move(request));
  engine.RunAll();
  EXPECT_GE(engine.told(with_min).answers.at(0).tokens.size(), 30U);
  EXPECT_EQ(engine.told(without_end).answers.at(0).tokens.size(), 40U);
  EXPECT_EQ(engine.told(without_end).answers.at(0).stats.reason, FinishReason::kLength);
}

TEST_F(EngineGrammarTest, MaxTokensCutsTheTextOff) {
  TestEngine engine(*model_, Options());
  const int64_t id = engine.Add(Held(GrammarKind::kJsonSchema, kSchema, 2));
  engine.RunAll();
  EXPECT_EQ(engine.told(id).answers.at(0).stats.reason, FinishReason::kLength);
}

TEST_F(EngineGrammarTest, ABanOfAllThatItAllowsFailsTheRequestByName) {
  TestEngine engine(*model_, Options());
  GenerationRequest request = Held(GrammarKind::kChoice, R"(["yes"])");
  for (int32_t token = 0; token < model_->tokenizer().vocab_size(); ++token) {
    if (model_->tokenizer().TokenBytes(token, false).starts_with('y')) {
      request.sampling.logit_bias.push_back({.token_id = token, .bias = -std::numeric_limits<double>::infinity()});
    }
  }
  const int64_t id = engine.Add(std::move(request));
  engine.RunAll();
  EXPECT_THAT(engine.told(id).error.message(), HasSubstr("the grammar leaves no token"));
}

TEST_F(EngineGrammarTest, ProgramsMayCompileGrammarsThemselves) {
  adit::EngineOptions options;
  options.model_path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/llama.gguf";
  options.kv_tokens = 256;
  options.num_threads = 1;
  const std::unique_ptr<adit::Engine> engine = *adit::Engine::Open(options);
  EXPECT_EQ(engine->CompileGrammar({.kind = GrammarKind::kRegex, .text = "("}).status().code(),
            StatusCode::kInvalidArgument);
  GenerationRequest request{.prompt = {1, 2}, .max_tokens = 20};
  request.grammar = *engine->CompileGrammar({.kind = GrammarKind::kRegex, .text = "[0-9]{6}"});
  const Completion completion = *engine->Generate(std::move(request));
  EXPECT_THAT(completion.answers.at(0).text, ::testing::MatchesRegex("[0-9]+"));
  EXPECT_EQ(completion.answers.at(0).text.size(), 6U);
}

TEST_F(EngineGrammarTest, BeamSearchIsRefused) {
  TestEngine engine(*model_, Options());
  GenerationRequest request = Held(GrammarKind::kJsonObject, "");
  request.beam.width = 2;
  engine.Add(std::move(request));
  EXPECT_EQ(engine.told(0).error.code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace adit::engine
