#include "engine/dry_breakers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/test_engine.h"

namespace adit::engine {
namespace {

TEST(DryBreakers, AreTheTokensThatHoldATextAndNoOthers) {
  const auto model = LoadGolden("llama");
  const tokenizer::Tokenizer& tokenizer = model->tokenizer();
  const DryBreakers breakers = ResolveDryBreakers(tokenizer, kDefaultDryBreakers);
  EXPECT_FALSE(breakers.tokens.empty());
  for (int32_t token = 0; token < tokenizer.vocab_size(); ++token) {
    const bool is_breaker = std::binary_search(breakers.tokens.begin(), breakers.tokens.end(), token);
    EXPECT_EQ(is_breaker, tokenizer.TokenBytes(token, true).find_first_of("\n:\"*") != std::string::npos) << token;
  }
}

TEST(DryBreakers, ATextOfSeveralTokensBreaksByItsSpelling) {
  const auto model = LoadGolden("llama");
  const std::string_view texts[] = {"qzqzqz"};
  const DryBreakers breakers = ResolveDryBreakers(model->tokenizer(), texts);
  ASSERT_EQ(breakers.sequences.size(), 1u);
  EXPECT_EQ(breakers.sequences.front(), model->tokenizer().Encode("qzqzqz", false, false));
}

TEST(DryBreakers, MirostatCarriesItsStateFromTokenToToken) {
  const auto model = LoadGolden("llama");
  EngineOptions options{.kv_tokens = 256, .event_capacity = 200};
  TestEngine engine(*model, options);
  GenerationRequest request{.prompt = {5, 6, 7}, .sampling = {.seed = 3}, .max_tokens = 40, .ignore_eos = true};
  request.sampling.mirostat = 2;
  request.sampling.mirostat_tau = 2.0;
  const int64_t slow = engine.Add(request);
  engine.RunAll();
  request.sampling.mirostat_eta = 1e-9;  // mu stays where it begins
  const int64_t fixed = engine.Add(request);
  engine.RunAll();
  EXPECT_NE(engine.told(slow).answers.at(0).tokens, engine.told(fixed).answers.at(0).tokens);
}

}  // namespace
}  // namespace adit::engine
