#ifndef ADIT_PLAN_CPU_LOAD_H_
#define ADIT_PLAN_CPU_LOAD_H_

#include <string>

namespace adit::plan {

// How busy the machine was with other things than this process, since the object was made: measurements taken then are
// too low.
class ForeignLoad {
 public:
  // `root` stands for / where files of the system are read, so that tests can show another machine.
  explicit ForeignLoad(std::string root = "");

  // CPUs' worth of time that others took, the hypervisor's included, as a share of all CPUs: 0 to 1. Negative where the
  // system does not tell. Ticks of the system are hundredths of a second, so the span should be a few tenths.
  double Share() const;

 private:
  struct Times {
    bool known = false;
    double all_s = 0.0;   // of all CPUs together
    double busy_s = 0.0;  // that were not idle
    double own_s = 0.0;   // that this process had
  };
  Times Now() const;

  std::string root_;
  Times start_;
};

}  // namespace adit::plan

#endif  // ADIT_PLAN_CPU_LOAD_H_
