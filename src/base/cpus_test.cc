#include "base/cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_root.h"

namespace adit {
namespace {

using ::testing::ElementsAre;

int NumAllowed() { return static_cast<int>(AllowedCpus().size()); }

TEST(AvailableCpus, AreThoseAllowedWhereThereIsNoQuota) {
  FakeRoot root;
  EXPECT_EQ(NumAvailableCpus(root.path()), NumAllowed());
  root.Add("/proc/self/cgroup", "0::/jobs/mine\n").Add("/sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
  EXPECT_EQ(NumAvailableCpus(root.path()), NumAllowed());
  EXPECT_GE(NumAvailableCpus(), 1);
}

TEST(AvailableCpus, AreNoMoreThanTheQuotaOfAnyGroupGives) {
  FakeRoot root;
  root.Add("/proc/self/cgroup", "0::/jobs/mine\n")
      .Add("/sys/fs/cgroup/jobs/mine/cpu.max", "400000000 100000\n")
      .Add("/sys/fs/cgroup/jobs/cpu.max", "50000 100000\n");
  EXPECT_EQ(NumAvailableCpus(root.path()), 1);
  root.Add("/sys/fs/cgroup/jobs/cpu.max", "100001 100000\n");
  EXPECT_EQ(NumAvailableCpus(root.path()), std::min(2, NumAllowed()));
}

TEST(AvailableCpus, ReadQuotasOfTheFirstVersion) {
  FakeRoot root;
  root.Add("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/y\n")
      .Add("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "100000\n")
      .Add("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(NumAvailableCpus(root.path()), 1);
  root.Add("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(NumAvailableCpus(root.path()), NumAllowed());
}

TEST(AvailableCpus, SurviveQuotasThatAreNone) {
  FakeRoot root;
  root.Add("/proc/self/cgroup", "0::/a\n");
  for (const char* text : {"", "100000", "100000 0", "0 100000", "x y", "-5 100000", "99999999999999999999 1",
                           "100000 -100000", "9223372036854775807 1"}) {
    root.Add("/sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(NumAvailableCpus(root.path()), NumAllowed()) << text;
  }
}

TEST(CpuBinding, LastsAsLongAsItLives) {
  const std::vector<int> before = AllowedCpus();
  if (before.size() < 2) GTEST_SKIP() << "this process may use one CPU alone";
  {
    const CpuBinding binding(before.back());
    EXPECT_THAT(AllowedCpus(), ElementsAre(before.back()));
  }
  EXPECT_EQ(AllowedCpus(), before);
}

TEST(CpuBinding, IsNoneWhereTheThreadMayNotRun) {
  const std::vector<int> before = AllowedCpus();
  for (const int cpu : {-1, CPU_SETSIZE - 1, CPU_SETSIZE, 1 << 30}) {
    if (before.back() == cpu) continue;
    const CpuBinding binding(cpu);
    EXPECT_EQ(AllowedCpus(), before) << cpu;
  }
}

}  // namespace
}  // namespace adit
