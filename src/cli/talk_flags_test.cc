#include "cli/talk_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::cli {
namespace {

using ::testing::HasSubstr;

TEST(SetTalkFlag, SetsWhatTheFlagSets) {
  RunOptions options;
  ASSERT_TRUE(SetTalkFlag("temp", "0.25", options).ok());
  ASSERT_TRUE(SetTalkFlag("max-tokens", "1k", options).ok());
  ASSERT_TRUE(SetTalkFlag("seed", "-7", options).ok());
  ASSERT_TRUE(SetTalkFlag("samplers", "top_k,temperature", options).ok());
  EXPECT_EQ(options.sampling.temperature, 0.25);
  EXPECT_EQ(options.max_tokens, 1000);
  EXPECT_EQ(options.seed, -7);
  for (const auto& [value, wanted] : {std::pair("on", true), std::pair("off", false)}) {
    ASSERT_TRUE(SetTalkFlag("ignore-eos", value, options).ok());
    EXPECT_EQ(options.ignore_eos, wanted);
  }
}

TEST(SetTalkFlag, RefusesOtherNamesAndValues) {
  RunOptions options;
  EXPECT_THAT(SetTalkFlag("tmp", "1", options).message(), HasSubstr("did you mean 'temp'?"));
  EXPECT_THAT(SetTalkFlag("ctx", "4096", options).message(), HasSubstr("nothing to set is called 'ctx'"));
  EXPECT_FALSE(SetTalkFlag("temp", "warm", options).ok());
  EXPECT_FALSE(SetTalkFlag("max-tokens", "-2", options).ok());
  EXPECT_FALSE(SetTalkFlag("", "", options).ok());
}

TEST(TalkFlagHelp, NamesEachFlagThatCanBeSet) {
  EXPECT_THAT(TalkFlagHelp(), HasSubstr("top-k N"));
  EXPECT_THAT(TalkFlagHelp(), HasSubstr("ignore-eos on|off"));
}

}  // namespace
}  // namespace adit::cli
