#include "plan/matmul_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "kernels/dispatch.h"

namespace adit::plan {
namespace {

TEST(TimeMatmul, CountsWhatAProductReadsAndComputes) {
  const auto team = WorkerTeam::Create(2);
  ASSERT_TRUE(team.ok());
  const auto kernels = kernels::SelectKernels("auto");
  ASSERT_TRUE(kernels.ok());
  for (const DType dtype : {DType::kQ4_0, DType::kQ6_K, DType::kF16}) {
    const Result<MatmulTime> time =
        TimeMatmul(**team, **kernels, {.dtype = dtype, .num_rows = 64, .num_cols = 256, .num_tokens = 65});
    ASSERT_TRUE(time.ok()) << time.status().message();
    EXPECT_EQ(time->ops, 2.0 * 64 * 256 * 65);
    EXPECT_GE(time->weight_bytes, 64.0 * static_cast<double>(RowBytes(dtype, 256)) * 0.99);
    EXPECT_GT(time->seconds, 0.0);
    EXPECT_LT(time->seconds, 1.0);
  }
}

TEST(TimeMatmul, RefusesColumnsThatAreNoBlocks) {
  const auto team = WorkerTeam::Create(1);
  ASSERT_TRUE(team.ok());
  const auto kernels = kernels::SelectKernels("auto");
  ASSERT_TRUE(kernels.ok());
  const Result<MatmulTime> time =
      TimeMatmul(**team, **kernels, {.dtype = DType::kQ6_K, .num_rows = 16, .num_cols = 96, .num_tokens = 1});
  EXPECT_THAT(time.status().message(), testing::HasSubstr("96 columns are no multiple of a block of"));
}

}  // namespace
}  // namespace adit::plan
