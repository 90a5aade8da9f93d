#include "engine/machine.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/cpus.h"
#include "base/system_files.h"
#include "kernels/dispatch.h"

namespace adit::engine {
namespace {

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// What follows the separator on the first line that begins with `key`.
std::string_view Field(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t at = line.find(separator);
    if (at != std::string_view::npos && Trim(line.substr(0, at)) == key) return Trim(line.substr(at + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// The number at the start of `text`, times 1024 for each step of a K, M or G behind it ("32K", "65536 kB").
std::optional<int64_t> Number(std::string_view text) {
  text = Trim(text);
  int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  const std::string_view unit = Trim(text.substr(static_cast<size_t>(rest - text.data())));
  int shift = 0;
  if (unit == "K" || unit == "kB") shift = 10;
  if (unit == "M") shift = 20;
  if (unit == "G") shift = 30;
  if (value > std::numeric_limits<int64_t>::max() >> shift) return std::nullopt;
  return value << shift;
}

int64_t NumberOr0(std::string_view text) { return Number(text).value_or(0); }

struct MemoryGroup {
  int64_t limit_bytes = std::numeric_limits<int64_t>::max();
  int64_t available_bytes = std::numeric_limits<int64_t>::max();
};

// A limit above this stands for none (version 1 writes 2^63 less a page).
constexpr int64_t kNoLimit = int64_t{1} << 60;

// The tightest of the groups of this process.
MemoryGroup ReadMemoryGroup(const std::string& root) {
  MemoryGroup tightest;
  for (const ControlGroup& group : ControlGroupsOf("memory", root)) {
    const bool newer = group.version == 2;
    const std::string folder = group.folder + "/";
    const std::optional<int64_t> limit =
        Number(ReadSystemFile(folder + (newer ? "memory.max" : "memory.limit_in_bytes")));
    if (!limit || *limit >= kNoLimit) continue;
    // Cached file pages that the system drops first are as good as free.
    const int64_t reclaimed =
        NumberOr0(Field(ReadSystemFile(folder + "memory.stat"), newer ? "inactive_file" : "total_inactive_file", ' '));
    const int64_t usage =
        NumberOr0(ReadSystemFile(folder + (newer ? "memory.current" : "memory.usage_in_bytes"))) - reclaimed;
    tightest.limit_bytes = std::min(tightest.limit_bytes, *limit);
    tightest.available_bytes = std::min(tightest.available_bytes, std::max<int64_t>(*limit - usage, 0));
  }
  return tightest;
}

std::vector<CpuCache> ReadCaches(const std::string& root) {
  std::vector<CpuCache> caches;
  for (int i = 0;; ++i) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    const std::string size = ReadSystemFile(folder + "/size");
    if (size.empty()) return caches;
    caches.push_back({.level = static_cast<int>(NumberOr0(ReadSystemFile(folder + "/level"))),
                      .type = std::string(Trim(ReadSystemFile(folder + "/type"))),
                      .size_bytes = NumberOr0(size),
                      .shared_cpus = std::string(Trim(ReadSystemFile(folder + "/shared_cpu_list")))});
  }
}

// Number of CPUs in a list such as "0-3,8".
int CountCpus(std::string_view list) {
  int64_t count = 0;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view range = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    const size_t dash = range.find('-');
    const std::optional<int64_t> first = Number(range.substr(0, dash));
    const std::optional<int64_t> last = dash == std::string_view::npos ? first : Number(range.substr(dash + 1));
    if (first && last && *last >= *first) count += *last - *first + 1;
  }
  return static_cast<int>(std::min<int64_t>(count, std::numeric_limits<int>::max()));
}

// The word in brackets of "always [madvise] never".
std::string Chosen(std::string_view choices) {
  const size_t begin = choices.find('[');
  const size_t end = choices.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return std::string(choices.substr(begin + 1, end - begin - 1));
}

}  // namespace

Machine ReadMachine(const std::string& root) {
  const std::string memory = ReadSystemFile(root + "/proc/meminfo");
  const MemoryGroup group = ReadMemoryGroup(root);
  Machine machine;
  machine.cpu_model = Field(ReadSystemFile(root + "/proc/cpuinfo"), "model name", ':');
  machine.num_cpus = NumAvailableCpus(root);
  machine.num_online_cpus = CountCpus(Trim(ReadSystemFile(root + "/sys/devices/system/cpu/online")));
  machine.caches = ReadCaches(root);
  machine.memory_bytes = NumberOr0(Field(memory, "MemTotal", ':'));
  machine.available_memory_bytes = AvailableMemoryBytes(root);
  machine.memory_limit_bytes = group.limit_bytes < kNoLimit ? group.limit_bytes : 0;
  machine.transparent_huge_pages = Chosen(ReadSystemFile(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  machine.huge_page_bytes = NumberOr0(Field(memory, "Hugepagesize", ':'));
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    machine.kernel_sets.push_back(
        {.name = set.table->name, .available = set.available, .automatic = set.automatic, .missing = set.missing});
  }
  return machine;
}

int64_t AvailableMemoryBytes(const std::string& root) {
  const int64_t system_bytes = NumberOr0(Field(ReadSystemFile(root + "/proc/meminfo"), "MemAvailable", ':'));
  return std::min(system_bytes, ReadMemoryGroup(root).available_bytes);
}

int64_t MachineMemoryBytes(const std::string& root) {
  const int64_t system_bytes = NumberOr0(Field(ReadSystemFile(root + "/proc/meminfo"), "MemTotal", ':'));
  return std::min(system_bytes, ReadMemoryGroup(root).limit_bytes);
}

int64_t ResidentBytes(const std::string& root) {
  return NumberOr0(Field(ReadSystemFile(root + "/proc/self/status"), "VmRSS", ':'));
}

// Not getrusage's ru_maxrss: that begins with what the process had before exec, as a copy of the one that started it.
int64_t PeakResidentBytes() { return NumberOr0(Field(ReadSystemFile("/proc/self/status"), "VmHWM", ':')); }

bool ResetPeakResident() {
  // proc(5): 5 resets the peak resident set size.
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace adit::engine
