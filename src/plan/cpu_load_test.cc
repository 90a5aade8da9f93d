#include "plan/cpu_load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"

namespace adit::plan {
namespace {

class ForeignLoadTest : public testing::Test {
 protected:
  ForeignLoadTest() : root_(testing::TempDir() + "foreign_load_" + std::to_string(getpid())) {
    std::filesystem::create_directories(root_ + "/proc");
  }
  ~ForeignLoadTest() override { std::filesystem::remove_all(root_); }
  void Stat(const std::string& text) const { std::ofstream(root_ + "/proc/stat") << text; }

  const std::string root_;
};

TEST_F(ForeignLoadTest, IsWhatOthersTookOfAllCpus) {
  Stat("cpu 100 0 0 1000 0 0 0 0 0 0\n");
  const ForeignLoad load(root_);
  // A second of two CPUs at 100 ticks: 50 ticks of others, 10 of them the hypervisor's.
  Stat("cpu 130 5 5 1150 0 0 0 10 0 0\n");
  EXPECT_NEAR(load.Share(), 0.25, 0.06);  // less what this test itself took meanwhile
}

TEST_F(ForeignLoadTest, IsUnknownWithoutTheFile) {
  const ForeignLoad load(root_ + "/none");
  EXPECT_LT(load.Share(), 0.0);
  Stat("intr 1 2 3\n");
  EXPECT_LT(ForeignLoad(root_).Share(), 0.0);
}

TEST(ForeignLoad, OfThisMachineIsAShare) {
  const ForeignLoad load;
  const double end = SteadySeconds() + 0.05;
  while (SteadySeconds() < end) continue;
  EXPECT_LE(load.Share(), 1.0);
}

}  // namespace
}  // namespace adit::plan
