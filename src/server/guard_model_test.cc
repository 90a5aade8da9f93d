#include "server/guard_model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace adit::server {
namespace {

using Names = std::vector<std::string>;

TEST(GuardModel, ReadsTheAnswersOfKnownModels) {
  const GuardModelOptions options;
  EXPECT_FALSE(ReadJudgement("\n\nsafe", 0.9, options).unsafe);
  const Judgement llama = ReadJudgement("\n\nunsafe\nS1,S10", 0.9, options);
  EXPECT_TRUE(llama.unsafe);
  EXPECT_EQ(llama.categories, (Names{"S1", "S10"}));
  EXPECT_DOUBLE_EQ(llama.score, 0.9);
  EXPECT_NEAR(ReadJudgement("safe", 0.75, options).score, 0.25, 1e-12);
  const Judgement qwen = ReadJudgement("Safety: Unsafe\nCategories: Violent, Non-violent Illegal Acts", 1, options);
  EXPECT_EQ(qwen.categories, (Names{"Violent", "Non-violent Illegal Acts"}));
  EXPECT_FALSE(ReadJudgement("Safety: Safe\nCategories: None", 1, options).unsafe);
  GuardModelOptions yes_no;
  yes_no.unsafe = "Yes";
  yes_no.safe = "No";
  EXPECT_TRUE(ReadJudgement("Yes", 1, yes_no).unsafe);
  EXPECT_FALSE(ReadJudgement(" no.", 1, yes_no).unsafe);
}

TEST(GuardModel, WhatSaysNeitherIsTakenAsUnsafe) {
  for (const char* answer : {"", "I cannot say", "unsafely", "notsafe"}) {
    const Judgement judgement = ReadJudgement(answer, 1, {});
    EXPECT_TRUE(judgement.unsafe) << answer;
    EXPECT_EQ(judgement.categories, (Names{"unclear"}));
  }
  EXPECT_TRUE(ReadJudgement("unsafe, not safe", 1, {}).unsafe) << "the first word counts";
  EXPECT_FALSE(ReadJudgement("safe, not unsafe", 1, {}).unsafe);
}

}  // namespace
}  // namespace adit::server
