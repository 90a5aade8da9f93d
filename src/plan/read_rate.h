#ifndef ADIT_PLAN_READ_RATE_H_
#define ADIT_PLAN_READ_RATE_H_

#include <cstddef>

#include "adit/status.h"
#include "base/worker_team.h"

namespace adit::plan {

// Bytes a second at which the team reads num_bytes of memory again and again, each worker its own share from front to
// back: of a size that a cache holds, the cache's rate; of more, that of memory. What bounds a step of few tokens. The
// best of several trials, since what else runs only takes away. ResourceExhausted when the memory cannot be had.
Result<double> MeasureReadRate(WorkerTeam& team, size_t num_bytes);

}  // namespace adit::plan

#endif  // ADIT_PLAN_READ_RATE_H_
