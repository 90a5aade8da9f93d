#include "plan/cpu_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace adit::plan {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ForeignLoad::ForeignLoad(std::string root) : root_(std::move(root)), start_(Now()) {}

// The first line of /proc/stat: cpu user nice system idle iowait irq softirq steal ..., in ticks (proc(5)).
ForeignLoad::Times ForeignLoad::Now() const {
  Times times;
  std::ifstream file(root_ + "/proc/stat");
  std::string name;
  double ticks[8] = {};
  file >> name;
  for (double& count : ticks) file >> count;
  if (!file || name != "cpu") return times;
  const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const double count : ticks) times.all_s += count / ticks_per_s;
  times.busy_s = times.all_s - (ticks[3] + ticks[4]) / ticks_per_s;
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  times.own_s = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  times.known = true;
  return times;
}

double ForeignLoad::Share() const {
  const Times now = Now();
  if (!start_.known || !now.known) return -1.0;
  const double all = now.all_s - start_.all_s;
  if (all <= 0.0) return 0.0;
  const double foreign = (now.busy_s - start_.busy_s) - (now.own_s - start_.own_s);
  return std::clamp(foreign / all, 0.0, 1.0);
}

}  // namespace adit::plan
