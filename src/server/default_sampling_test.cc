#include "server/default_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::server {
namespace {

using ::testing::HasSubstr;

TEST(DefaultSampling, TakesNumbersByTheirNamesInRequests) {
  SamplingParams params;
  params.top_p = 0.8;
  ASSERT_TRUE(ApplyDefaultSampling("temperature=0.25,top_k=7,repeat_penalty=1.5,dry_multiplier=2", params).ok());
  EXPECT_EQ(params.temperature, 0.25);
  EXPECT_EQ(params.top_k, 7);
  EXPECT_EQ(params.repetition_penalty, 1.5);
  EXPECT_EQ(params.dry_multiplier, 2.0);
  EXPECT_EQ(params.top_p, 0.8);
  EXPECT_TRUE(ApplyDefaultSampling("", params).ok());
}

TEST(DefaultSampling, NamesWhatIsWrong) {
  const auto message = [](const char* list) {
    SamplingParams params;
    return ApplyDefaultSampling(list, params).message();
  };
  EXPECT_THAT(message("temperature"), HasSubstr("'temperature' is not of the form NAME=VALUE"));
  EXPECT_THAT(message("temperature=hot"), HasSubstr("'temperature' is \"hot\", wanted a number"));
  EXPECT_THAT(message("top_p=0.5,temperature=9"), HasSubstr("'temperature' is 9"));
  EXPECT_THAT(message("n=2"), HasSubstr("'n' is no field of sampling"));
}

}  // namespace
}  // namespace adit::server
