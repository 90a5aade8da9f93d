#ifndef ADIT_SAMPLE_TEST_ALLOCATIONS_H_
#define ADIT_SAMPLE_TEST_ALLOCATIONS_H_

#include <cstdint>

namespace adit::sample {

// Calls of operator new so far in a test program that links test_allocations.cc.
int64_t NumAllocations();

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_TEST_ALLOCATIONS_H_
