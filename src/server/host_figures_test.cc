#include "server/host_figures.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/fake_root.h"

namespace adit::server {
namespace {

TEST(HostFigures, ReadsWhatTheSystemTells) {
  FakeRoot root;
  root.Add("/proc/self/stat",
           "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 250 150 0 0 20 0 12 0 5000 123456789 42 18446744073709551615\n");
  root.Add("/proc/stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 9\n");
  root.Add("/proc/cpuinfo", "processor : 0\ncpu MHz\t\t: 2000.0\nprocessor : 1\ncpu MHz\t\t: 3000.0\n");
  root.Add("/proc/self/fd/0", "");
  root.Add("/proc/self/fd/1", "");
  const HostFigures figures = ReadHostFigures(root.path());
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(figures.cpu_seconds, 400 / ticks);
  EXPECT_EQ(figures.num_threads, 12);
  EXPECT_EQ(figures.virtual_bytes, 123456789);
  EXPECT_DOUBLE_EQ(figures.start_time_s, 1700000000 + 5000 / ticks);
  EXPECT_EQ(figures.open_files, 2);
  EXPECT_DOUBLE_EQ(figures.cpu_hertz, 2.5e9);
  EXPECT_GE(figures.num_cpus, 1);
}

TEST(HostFigures, WhatIsNotToldIsZero) {
  FakeRoot root;
  const HostFigures figures = ReadHostFigures(root.path());
  EXPECT_EQ(figures.cpu_seconds, 0);
  EXPECT_EQ(figures.open_files, 0);
  EXPECT_TRUE(EnergyMeter(root.path()).Read().empty());
  // The system counts in hundredths of a second.
  double seconds = 0.0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (seconds == 0.0 && std::chrono::steady_clock::now() < deadline) seconds = ReadHostFigures().cpu_seconds;
  EXPECT_GT(seconds, 0.0) << "of this machine";
}

TEST(HostFigures, EnergyCountersMayStartAgain) {
  FakeRoot root;
  const std::string zone = "/sys/class/powercap/intel-rapl:";
  root.Add(zone + "0/name", "package-0\n");
  root.Add(zone + "0/energy_uj", "900000\n");
  root.Add(zone + "0/max_energy_range_uj", "1000000\n");
  root.Add(zone + "0:0/name", "dram\n");
  root.Add(zone + "0:0/energy_uj", "5\n");
  root.Add(zone + "1:0/name", "dram\n");
  root.Add(zone + "1:0/energy_uj", "7\n");
  EnergyMeter meter(root.path());
  root.Add(zone + "0/energy_uj", "100000\n");
  root.Add(zone + "0:0/energy_uj", "2000005\n");
  root.Add(zone + "1:0/energy_uj", "1000007\n");
  const auto energies = meter.Read();
  ASSERT_EQ(energies.size(), 2u);
  EXPECT_EQ(energies[0].domain, "package-0");
  EXPECT_DOUBLE_EQ(energies[0].joules, 0.2);
  EXPECT_EQ(energies[1].domain, "dram");
  EXPECT_DOUBLE_EQ(energies[1].joules, 3.0);
}

}  // namespace
}  // namespace adit::server
