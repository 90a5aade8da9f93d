#include "server/host_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/cpus.h"
#include "base/system_files.h"

namespace adit::server {
namespace {

std::optional<int64_t> ReadNumber(const std::string& path) {
  const std::string text = ReadSystemFile(path);
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str()) return std::nullopt;
  return value;
}

// The number behind a word at the start of a line.
double NumberBehind(const std::string& text, const std::string& word) {
  const size_t at = text.starts_with(word) ? 0 : text.find("\n" + word);
  if (at == std::string::npos) return 0.0;
  return std::strtod(text.c_str() + at + (at == 0 && text.starts_with(word) ? 0 : 1) + word.size(), nullptr);
}

double MeanHertz(const std::string& cpus) {
  double sum = 0.0;
  int count = 0;
  std::istringstream lines(cpus);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu MHz")) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    sum += std::strtod(line.c_str() + colon + 1, nullptr) * 1e6;
    ++count;
  }
  return count == 0 ? 0.0 : sum / count;
}

}  // namespace

HostFigures ReadHostFigures(const std::string& root) {
  HostFigures figures;
  const std::string stat = ReadSystemFile(root + "/proc/self/stat");
  // The program's name may hold anything; the fields begin behind it, with the third.
  if (const size_t name_end = stat.rfind(')'); name_end != std::string::npos) {
    std::istringstream fields(stat.substr(name_end + 1));
    std::vector<std::string> values{std::istream_iterator<std::string>(fields), {}};
    const auto field = [&values](size_t number) {
      return number - 3 < values.size() ? std::strtod(values[number - 3].c_str(), nullptr) : 0.0;
    };
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    figures.cpu_seconds = (field(14) + field(15)) / ticks;
    figures.num_threads = static_cast<int64_t>(field(20));
    figures.virtual_bytes = static_cast<int64_t>(field(23));
    const double booted_s = NumberBehind(ReadSystemFile(root + "/proc/stat"), "btime");
    if (booted_s > 0) figures.start_time_s = booted_s + field(22) / ticks;
  }
  std::error_code failure;
  const std::filesystem::directory_iterator files(root + "/proc/self/fd", failure);
  if (!failure) figures.open_files = std::distance(begin(files), end(files));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    figures.max_files = static_cast<int64_t>(limit.rlim_cur);
  }
  figures.num_cpus = NumAvailableCpus(root);
  figures.cpu_hertz = MeanHertz(ReadSystemFile(root + "/proc/cpuinfo"));
  return figures;
}

EnergyMeter::EnergyMeter(const std::string& root) {
  std::error_code failure;
  for (std::filesystem::directory_iterator folder(root + "/sys/class/powercap", failure), end;
       !failure && folder != end; folder.increment(failure)) {
    const std::string path = folder->path().string();
    if (!folder->path().filename().string().starts_with("intel-rapl:")) continue;
    std::string domain = ReadSystemFile(path + "/name");
    domain.erase(std::find(domain.begin(), domain.end(), '\n'), domain.end());
    const std::optional<int64_t> now = ReadNumber(path + "/energy_uj");
    if (!now || domain.empty()) continue;
    const int64_t range = ReadNumber(path + "/max_energy_range_uj").value_or(0);
    counters_.push_back({.path = path + "/energy_uj", .domain = std::move(domain), .last = *now, .range = range});
  }
  std::sort(counters_.begin(), counters_.end(), [](const Counter& a, const Counter& b) { return a.path < b.path; });
}

std::vector<Energy> EnergyMeter::Read() {
  std::vector<Energy> energies;
  const std::lock_guard lock(mutex_);
  for (Counter& counter : counters_) {
    if (const std::optional<int64_t> now = ReadNumber(counter.path); now) {
      const int64_t used = *now - counter.last;
      counter.total += used >= 0 ? used : std::max<int64_t>(0, used + counter.range);
      counter.last = *now;
    }
    // Parts of several processors share a name.
    const auto known = std::find_if(energies.begin(), energies.end(),
                                    [&counter](const Energy& energy) { return energy.domain == counter.domain; });
    const double joules = static_cast<double>(counter.total) * 1e-6;
    if (known == energies.end()) {
      energies.push_back({.domain = counter.domain, .joules = joules});
    } else {
      known->joules += joules;
    }
  }
  return energies;
}

}  // namespace adit::server
