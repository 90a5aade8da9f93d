#ifndef ADIT_ENGINE_MACHINE_H_
#define ADIT_ENGINE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace adit::engine {

// One cache of CPU 0.
struct CpuCache {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  int64_t size_bytes = 0;
  std::string shared_cpus;  // that use it, as the system writes lists: "0-3,8"
};

// A kernel set of this build, and what this machine lacks to run it.
struct KernelSetStatus {
  std::string name;
  bool available = false;
  bool automatic = false;  // whether `auto` takes it where no faster one can run
  std::string missing;     // empty when available
};

// What the system tells of the machine, for people. What it does not tell stays empty or 0.
struct Machine {
  std::string cpu_model;
  int num_cpus = 0;         // that this process may run on
  int num_online_cpus = 0;  // of the machine
  std::vector<CpuCache> caches;
  int64_t memory_bytes = 0;
  int64_t available_memory_bytes = 0;
  int64_t memory_limit_bytes = 0;      // set for this process's control group; 0: none
  std::string transparent_huge_pages;  // "always", "madvise" or "never"
  int64_t huge_page_bytes = 0;
  std::vector<KernelSetStatus> kernel_sets;  // fastest first
};

// `root` stands for / where files of the system are read, so that tests can show another machine.
Machine ReadMachine(const std::string& root = "");

// Bytes that can be had without swapping: what the system deems available, or less where the control group of this
// process leaves less. 0 when the system does not tell.
int64_t AvailableMemoryBytes(const std::string& root = "");

// Memory of the machine, or the limit of this process's control group where that is less. 0 when the system does not
// tell.
int64_t MachineMemoryBytes(const std::string& root = "");

// Memory that this process occupies now; 0 when the system does not tell.
int64_t ResidentBytes(const std::string& root = "");

// The most that it ever occupied, or since the last ResetPeakResident.
int64_t PeakResidentBytes();
// Lets the peak begin anew at what is occupied now. False where the system does not allow that.
bool ResetPeakResident();

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MACHINE_H_
