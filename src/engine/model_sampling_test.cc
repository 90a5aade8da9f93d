#include "engine/model_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace adit::engine {
namespace {

using formats::GgufType;
using formats::GgufValue;
using testing::HasSubstr;

formats::GgufMetadata Metadata(std::map<std::string, GgufValue, std::less<>> values) {
  return {"x.gguf", std::move(values)};
}

TEST(ModelSampling, TakesWhatTheFileRecommendsAndLeavesTheRest) {
  const formats::GgufMetadata metadata =
      Metadata({{"general.sampling.temp", {.type = GgufType::kF32, .value = 0.25}},
                {"general.sampling.top_k", {.type = GgufType::kI32, .value = int64_t{7}}},
                {"general.sampling.mirostat", {.type = GgufType::kI32, .value = int64_t{2}}}});
  SamplingParams params{.top_p = 0.5};
  ASSERT_TRUE(ApplyModelSampling(
                  metadata, [](std::string_view) { return false; }, params)
                  .ok());
  EXPECT_EQ(params.temperature, 0.25);
  EXPECT_EQ(params.top_k, 7);
  EXPECT_EQ(params.mirostat, 2);
  EXPECT_EQ(params.top_p, 0.5);
}

TEST(ModelSampling, WhatIsSetStays) {
  const formats::GgufMetadata metadata =
      Metadata({{"general.sampling.temp", {.type = GgufType::kF32, .value = 0.25}},
                {"general.sampling.top_k", {.type = GgufType::kI32, .value = int64_t{7}}}});
  SamplingParams params{.top_k = 3, .temperature = 0.9};
  ASSERT_TRUE(ApplyModelSampling(
                  metadata, [](std::string_view name) { return name == "temp"; }, params)
                  .ok());
  EXPECT_EQ(params.temperature, 0.9);
  EXPECT_EQ(params.top_k, 7);
}

TEST(ModelSampling, RefusesValuesThatCannotBe) {
  SamplingParams params;
  const auto none = [](std::string_view) { return false; };
  EXPECT_THAT(
      ApplyModelSampling(Metadata({{"general.sampling.top_p", {.type = GgufType::kF32, .value = 1.5}}}), none, params)
          .message(),
      HasSubstr("general.sampling.top_p is 1.5"));
  EXPECT_THAT(
      ApplyModelSampling(Metadata({{"general.sampling.mirostat", {.type = GgufType::kI32, .value = int64_t{3}}}}), none,
                         params)
          .message(),
      HasSubstr("general.sampling.mirostat is 3"));
  EXPECT_THAT(
      ApplyModelSampling(
          Metadata({{"general.sampling.temp", {.type = GgufType::kString, .value = std::string("hot")}}}), none, params)
          .message(),
      HasSubstr("general.sampling.temp"));
}

}  // namespace
}  // namespace adit::engine
