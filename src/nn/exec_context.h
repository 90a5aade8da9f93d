#ifndef ADIT_NN_EXEC_CONTEXT_H_
#define ADIT_NN_EXEC_CONTEXT_H_

#include "base/worker_team.h"
#include "kernels/kernel_table.h"
#include "nn/linear.h"

namespace adit::nn {

// What runs a forward pass: the kernels of this machine, the threads, and who looks on, if anybody does. Borrowed;
// outlives whatever uses it.
struct ExecContext {
  const kernels::KernelTable& kernels;
  WorkerTeam& team;
  LinearObserver* observer = nullptr;
};

}  // namespace adit::nn

#endif  // ADIT_NN_EXEC_CONTEXT_H_
