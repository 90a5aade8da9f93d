#include "plan/read_rate.h"

#include <gtest/gtest.h>

#include <memory>

namespace adit::plan {
namespace {

TEST(ReadRate, OfACacheAndOfMemoryArePlausible) {
  for (const int num_workers : {1, 2}) {
    const auto team = WorkerTeam::Create(num_workers);
    ASSERT_TRUE(team.ok());
    for (const size_t num_bytes : {size_t{16} << 10, size_t{64} << 20}) {
      const Result<double> rate = MeasureReadRate(**team, num_bytes);
      ASSERT_TRUE(rate.ok());
      EXPECT_GT(*rate, 0.2e9) << num_bytes;
      EXPECT_LT(*rate, 2e12) << num_bytes;
    }
  }
}

TEST(ReadRate, TakesLessThanAStrideForEachWorker) {
  const auto team = WorkerTeam::Create(3);
  ASSERT_TRUE(team.ok());
  const Result<double> rate = MeasureReadRate(**team, 1);
  ASSERT_TRUE(rate.ok());
  EXPECT_GT(*rate, 0.0);
}

}  // namespace
}  // namespace adit::plan
