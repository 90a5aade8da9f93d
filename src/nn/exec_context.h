#ifndef ADIT_NN_EXEC_CONTEXT_H_
#define ADIT_NN_EXEC_CONTEXT_H_

#include "base/worker_team.h"
#include "kernels/kernel_table.h"

namespace adit::nn {

// What runs a forward pass: the kernels of this machine and the threads. Borrowed; outlives whatever uses it.
struct ExecContext {
  const kernels::KernelTable& kernels;
  WorkerTeam& team;
};

}  // namespace adit::nn

#endif  // ADIT_NN_EXEC_CONTEXT_H_
