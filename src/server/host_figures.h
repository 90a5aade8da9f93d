#ifndef ADIT_SERVER_HOST_FIGURES_H_
#define ADIT_SERVER_HOST_FIGURES_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace adit::server {

// What the system tells of this process and the machine. What it does not tell is 0.
struct HostFigures {
  double cpu_seconds = 0.0;   // that the process has used, all threads together
  double start_time_s = 0.0;  // since the epoch
  int64_t virtual_bytes = 0;
  int64_t num_threads = 0;
  int64_t open_files = 0;
  int64_t max_files = 0;
  int num_cpus = 0;        // that the process may run on
  double cpu_hertz = 0.0;  // mean of all
};
// `root` stands for / where files are read, so that tests can show another machine.
HostFigures ReadHostFigures(const std::string& root = "");

// Energy that a part of the machine has used since the meter was made, as RAPL counts it.
struct Energy {
  std::string domain;  // "package-0", "dram"
  double joules = 0.0;
};

// Reads the machine's energy counters where the system lets it. They start again at zero when they are full, so it has
// to be read now and then. Any thread.
class EnergyMeter {
 public:
  explicit EnergyMeter(const std::string& root = "");
  // Empty where nothing can be read.
  std::vector<Energy> Read();

 private:
  struct Counter {
    std::string path;
    std::string domain;
    int64_t last = 0;   // in microjoules
    int64_t range = 0;  // the highest that it reaches
    int64_t total = 0;
  };
  std::mutex mutex_;
  std::vector<Counter> counters_;  // guarded by mutex_
};

}  // namespace adit::server

#endif  // ADIT_SERVER_HOST_FIGURES_H_
