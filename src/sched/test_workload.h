#ifndef ADIT_SCHED_TEST_WORKLOAD_H_
#define ADIT_SCHED_TEST_WORKLOAD_H_

#include <gtest/gtest.h>

#include <utility>

#include "sched/workload.h"

namespace adit::sched {

// The workload of options that are right; otherwise a failure of the test, and its end.
inline Workload Made(const WorkloadOptions& options) {
  Result<Workload> workload = Workload::Create(options);
  EXPECT_TRUE(workload.ok()) << workload.status().ToString();
  return *std::move(workload);
}

}  // namespace adit::sched

#endif  // ADIT_SCHED_TEST_WORKLOAD_H_
