#include "sched/length_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace adit::sched {
namespace {

using testing::HasSubstr;

LengthDistribution Parsed(std::string_view text) {
  Result<LengthDistribution> parsed = LengthDistribution::Parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return *parsed;
}

std::vector<int64_t> Draws(const LengthDistribution& lengths, int64_t count) {
  std::vector<int64_t> draws;
  for (int64_t i = 0; i < count; ++i) draws.push_back(lengths.Draw(5, static_cast<uint64_t>(i), 2));
  return draws;
}

TEST(LengthDistribution, ANumberIsFixed) {
  for (const char* text : {"128", "fixed:128"}) {
    const LengthDistribution lengths = Parsed(text);
    EXPECT_EQ(lengths.Draw(1, 2, 3), 128);
    EXPECT_EQ(lengths.ToString(), "128");
  }
}

TEST(LengthDistribution, UniformReachesBothEndsAndNoFurther) {
  const LengthDistribution lengths = Parsed("uniform:3:6");
  const std::vector<int64_t> draws = Draws(lengths, 4000);
  for (int64_t length = 3; length <= 6; ++length) {
    EXPECT_NEAR(static_cast<double>(std::count(draws.begin(), draws.end(), length)), 1000.0, 120.0) << length;
  }
  EXPECT_EQ(lengths.ToString(), "uniform:3:6");
}

TEST(LengthDistribution, LogNormalHasItsMedianAndDeviation) {
  const LengthDistribution lengths = Parsed("lognormal:200:0.8");
  std::vector<int64_t> draws = Draws(lengths, 20'001);
  double sum = 0.0;
  double squares = 0.0;
  for (const int64_t length : draws) {
    const double x = std::log(static_cast<double>(length));
    sum += x;
    squares += x * x;
  }
  const double mean = sum / static_cast<double>(draws.size());
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(draws.size()) - mean * mean), 0.8, 0.02);
  std::sort(draws.begin(), draws.end());
  EXPECT_NEAR(static_cast<double>(draws[10'000]), 200.0, 6.0);
  EXPECT_EQ(lengths.ToString(), "lognormal:200:0.8");
}

TEST(LengthDistribution, LogNormalIsClippedToItsEnds) {
  const LengthDistribution lengths = Parsed("lognormal:100:2:50:300");
  const std::vector<int64_t> draws = Draws(lengths, 1000);
  EXPECT_EQ(*std::min_element(draws.begin(), draws.end()), 50);
  EXPECT_EQ(*std::max_element(draws.begin(), draws.end()), 300);
  EXPECT_EQ(Parsed(lengths.ToString()).ToString(), "lognormal:100:2:50:300");
}

TEST(LengthDistribution, WrongTextsSayWhatIsWrong) {
  const auto message = [](std::string_view text) {
    const Result<LengthDistribution> parsed = LengthDistribution::Parse(text);
    EXPECT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << text;
    return parsed.status().message();
  };
  EXPECT_EQ(message("0"), "length '0': '0' is not a whole number of 1..1048576");
  EXPECT_EQ(message("1.5"), "length '1.5': '1.5' is not a whole number of 1..1048576");
  EXPECT_EQ(message("uniform:9:3"), "length 'uniform:9:3': 9 is above 3");
  EXPECT_EQ(message("lognormal:200:9"), "length 'lognormal:200:9': sigma is a number of 0..4");
  EXPECT_EQ(message("lognormal:x:1"), "length 'lognormal:x:1': the median is a number of 1..1048576");
  for (const char* text : {"", ":", "poisson:3", "fixed:1:2", "uniform:1", "lognormal:200", "lognormal:200:0.8:10"}) {
    EXPECT_THAT(message(text), HasSubstr(text)) << text;
  }
  EXPECT_THAT(message("nan"), HasSubstr("nan"));
  EXPECT_LT(message(std::string(100'000, '7')).size(), 300u);
}

}  // namespace
}  // namespace adit::sched
