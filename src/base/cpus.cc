#include "base/cpus.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <thread>

#include "base/system_files.h"

namespace adit {
namespace {

// The number that `text` begins with, cut off it together with a blank behind.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  return value;
}

// CPUs whose whole time the tightest quota gives, rounded up. Version 2 tells quota and period in one line ("max" for
// no quota), version 1 in a file each (-1).
int64_t CpusOfQuota(const std::string& root) {
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const ControlGroup& group : ControlGroupsOf("cpu", root)) {
    const std::string text = group.version == 2 ? ReadSystemFile(group.folder + "/cpu.max")
                                                : ReadSystemFile(group.folder + "/cpu.cfs_quota_us") +
                                                      ReadSystemFile(group.folder + "/cpu.cfs_period_us");
    std::string_view rest = text;
    const std::optional<int64_t> quota = TakeNumber(rest);
    if (!quota || *quota <= 0) continue;
    const std::optional<int64_t> period = TakeNumber(rest);
    if (!period || *period <= 0) continue;
    fewest = std::min(fewest, *quota / *period + (*quota % *period != 0 ? 1 : 0));
  }
  return fewest;
}

}  // namespace

std::vector<int> AllowedCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines of more than CPU_SETSIZE (1,024) CPUs.
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

int NumAvailableCpus(const std::string& root) {
  auto count = static_cast<int64_t>(AllowedCpus().size());
  if (count == 0) count = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<int>(std::min(count, CpusOfQuota(root)));
}

CpuBinding::CpuBinding(int cpu) {
  CPU_ZERO(&before_);
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
  if (!CPU_ISSET(cpu, &before_) || CPU_COUNT(&before_) == 1) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  bound_ = sched_setaffinity(0, sizeof(one), &one) == 0;
}

// A failure leaves the thread bound, which costs speed at most.
CpuBinding::~CpuBinding() {
  if (bound_) sched_setaffinity(0, sizeof(before_), &before_);
}

}  // namespace adit
