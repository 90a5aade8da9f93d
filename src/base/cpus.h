#ifndef ADIT_BASE_CPUS_H_
#define ADIT_BASE_CPUS_H_

#include <sched.h>

#include <string>
#include <vector>

namespace adit {

// The CPUs that the calling thread may run on, in ascending order. Empty when the system does not tell.
std::vector<int> AllowedCpus();

// How many threads can compute at once: one for each allowed CPU, or as many as the quotas of this process's control
// groups give the time for, rounded up, where that is less. At least 1. `root` stands for / where files of the system
// are read.
int NumAvailableCpus(const std::string& root = "");

// While it lives, the thread that made it runs on one CPU; then again on those of before. Nothing happens where the
// thread may not run there, or nowhere else. Three system calls, a microsecond in all.
class CpuBinding {
 public:
  explicit CpuBinding(int cpu);
  ~CpuBinding();
  CpuBinding(const CpuBinding&) = delete;
  CpuBinding& operator=(const CpuBinding&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

}  // namespace adit

#endif  // ADIT_BASE_CPUS_H_
