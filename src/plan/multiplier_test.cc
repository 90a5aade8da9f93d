#include "plan/multiplier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace adit::plan {
namespace {

TEST(Multiplier, EachRunsAtAPlausibleRate) {
  const auto team = WorkerTeam::Create(1);
  ASSERT_TRUE(team.ok());
  for (const Multiplier& multiplier : Multipliers()) {
    const double rate = MeasureOps(**team, multiplier);
    // From a tenth of an instruction in a cycle of 1 GHz to four in one of 6 GHz.
    const double ops = static_cast<double>(multiplier.ops_per_round) / 12.0;
    EXPECT_GT(rate, ops * 0.1e9) << multiplier.type << " " << multiplier.set;
    EXPECT_LT(rate, ops * 24e9) << multiplier.type << " " << multiplier.set;
  }
}

TEST(Multiplier, TwiceTheRoundsAreTwiceTheOperations) {
  for (const Multiplier& multiplier : Multipliers()) {
    EXPECT_EQ(multiplier.ops_per_round % 24, 0);
    multiplier.run(1);
    multiplier.run(2);
  }
}

TEST(Multiplier, KnowsIntegersAndFloatsOfEachSet) {
  for (const Multiplier& multiplier : Multipliers()) {
    EXPECT_THAT(multiplier.type, testing::AnyOf("int8", "bf16", "f32"));
    EXPECT_THAT(multiplier.set, testing::AnyOf("avx2", "avx512", "avx512bf16"));
  }
}

}  // namespace
}  // namespace adit::plan
