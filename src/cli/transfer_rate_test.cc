#include "cli/transfer_rate.h"

#include <gtest/gtest.h>

namespace adit::cli {
namespace {

TEST(TransferRate, FollowsTheLastSeconds) {
  TransferRate rate;
  EXPECT_EQ(rate.bytes_per_s(), 0.0);
  rate.Add(0.0, 0);
  EXPECT_EQ(rate.bytes_per_s(), 0.0);
  for (int i = 1; i <= 100; ++i) rate.Add(i * 0.1, i * 100);
  EXPECT_NEAR(rate.bytes_per_s(), 1000.0, 1.0);
  for (int i = 1; i <= 100; ++i) rate.Add(10.0 + i * 0.1, 10'000 + i * 10);
  EXPECT_NEAR(rate.bytes_per_s(), 100.0, 1.0) << "what was ten seconds ago does not count";
}

TEST(TransferRate, ATimeIsLeft) {
  EXPECT_EQ(TransferText(1 << 20, 11 << 20, 1 << 20), "1.0 MiB of 11.0 MiB, 1.0 MiB/s, 0:10 left");
  EXPECT_EQ(TransferText(0, int64_t{10'000} << 20, 1 << 20), "0 B of 9.77 GiB, 1.0 MiB/s, 2:46:40 left");
  EXPECT_EQ(TransferText(0, 10 << 20, 0.0), "0 B of 10.0 MiB");
}

}  // namespace
}  // namespace adit::cli
