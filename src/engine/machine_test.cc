#include "engine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_root.h"

namespace adit::engine {
namespace {

using ::testing::ElementsAre;

constexpr char kMeminfo[] =
    "MemTotal:       24669592 kB\nMemFree:        1000 kB\nMemAvailable:   23000000 kB\nHugepagesize:       2048 kB\n";

TEST(Machine, ReadsWhatTheSystemTells) {
  FakeRoot root;
  root.Add("/proc/meminfo", kMeminfo)
      .Add("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\n\nprocessor\t: 1\nmodel name\t: Other\n")
      .Add("/sys/devices/system/cpu/online", "0-3,8\n")
      .Add("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n")
      .Add("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n")
      .Add("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n")
      .Add("/sys/devices/system/cpu/cpu0/cache/index1/size", "2M\n")
      .Add("/sys/devices/system/cpu/cpu0/cache/index1/level", "2\n")
      .Add("/sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n")
      .Add("/sys/devices/system/cpu/cpu0/cache/index1/shared_cpu_list", "0-1\n")
      .Add("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const Machine machine = ReadMachine(root.path());
  EXPECT_EQ(machine.cpu_model, "Some CPU @ 2.0GHz");
  EXPECT_EQ(machine.num_online_cpus, 5);
  EXPECT_EQ(machine.memory_bytes, int64_t{24669592} * 1024);
  EXPECT_EQ(machine.available_memory_bytes, int64_t{23000000} * 1024);
  EXPECT_EQ(machine.memory_limit_bytes, 0);
  EXPECT_EQ(machine.transparent_huge_pages, "madvise");
  EXPECT_EQ(machine.huge_page_bytes, 2 << 20);
  ASSERT_EQ(machine.caches.size(), 2u);
  EXPECT_EQ(machine.caches[0].size_bytes, 48 << 10);
  EXPECT_EQ(machine.caches[0].type, "Data");
  EXPECT_EQ(machine.caches[1].level, 2);
  EXPECT_EQ(machine.caches[1].size_bytes, 2 << 20);
  EXPECT_EQ(machine.caches[1].shared_cpus, "0-1");
}

TEST(Machine, LeavesOutWhatTheSystemDoesNotTell) {
  const Machine machine = ReadMachine(FakeRoot().path());
  EXPECT_EQ(machine.cpu_model, "");
  EXPECT_EQ(machine.memory_bytes, 0);
  EXPECT_EQ(machine.available_memory_bytes, 0);
  EXPECT_EQ(machine.num_online_cpus, 0);
  EXPECT_TRUE(machine.caches.empty());
  EXPECT_EQ(machine.transparent_huge_pages, "");
}

TEST(Machine, SurvivesFilesThatHoldOtherThings) {
  FakeRoot root;
  root.Add("/proc/meminfo", "MemTotal: many kB\nMemAvailable: 9223372036854775807 kB\nMemAvail")
      .Add("/proc/self/cgroup", "0\n::\nmemory\n0::../../x\n0::x\n")
      .Add("/sys/devices/system/cpu/online", "3-1,x,-,7-\n")
      .Add("/sys/kernel/mm/transparent_hugepage/enabled", "]always[");
  const Machine machine = ReadMachine(root.path());
  EXPECT_EQ(machine.memory_bytes, 0);
  EXPECT_EQ(machine.available_memory_bytes, 0);
  EXPECT_EQ(machine.num_online_cpus, 0);
  EXPECT_EQ(machine.transparent_huge_pages, "");
}

TEST(Machine, TellsOfThisMachineToo) {
  const Machine machine = ReadMachine();
  EXPECT_GE(machine.num_cpus, 1);
  EXPECT_GT(machine.memory_bytes, 0);
  EXPECT_GT(machine.available_memory_bytes, 0);
  ASSERT_FALSE(machine.kernel_sets.empty());
  EXPECT_EQ(machine.kernel_sets.back().name, "ref");
  for (const KernelSetStatus& set : machine.kernel_sets) EXPECT_EQ(set.available, set.missing.empty()) << set.name;
}

TEST(Machine, MemoryOfAControlGroupIsItsLimitLessWhatItUsesForGood) {
  FakeRoot root;
  root.Add("/proc/meminfo", kMeminfo)
      .Add("/proc/self/cgroup", "0::/jobs/mine\n")
      .Add("/sys/fs/cgroup/jobs/mine/memory.max", "8000000000\n")
      .Add("/sys/fs/cgroup/jobs/mine/memory.current", "3000000000\n")
      .Add("/sys/fs/cgroup/jobs/mine/memory.stat", "anon 1\ninactive_file 1000000000\nfile 5\n")
      .Add("/sys/fs/cgroup/jobs/memory.max", "max\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 6000000000);
  EXPECT_EQ(ReadMachine(root.path()).memory_limit_bytes, 8000000000);
  // The group around it leaves less.
  root.Add("/sys/fs/cgroup/jobs/memory.max", "4000000000\n").Add("/sys/fs/cgroup/jobs/memory.current", "3900000000\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 100000000);
  EXPECT_EQ(ReadMachine(root.path()).memory_limit_bytes, 4000000000);
}

TEST(Machine, ReadsControlGroupsOfTheFirstVersion) {
  FakeRoot root;
  root.Add("/proc/meminfo", kMeminfo)
      .Add("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n")
      .Add("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n")
      .Add("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1500000000\n")
      .Add("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 200000000\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 700000000);
  root.Add("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), int64_t{23000000} * 1024);
  EXPECT_EQ(ReadMachine(root.path()).memory_limit_bytes, 0);
}

}  // namespace
}  // namespace adit::engine
