#ifndef ADIT_TESTS_SUPPORT_ALLOCATION_WATCH_H_
#define ADIT_TESTS_SUPPORT_ALLOCATION_WATCH_H_

#include <cstddef>
#include <cstdint>

namespace adit::test {

// What the calling thread has taken from operator new since it last reset the watch.
struct AllocationWatch {
  int64_t count = 0;
  size_t largest_bytes = 0;
};

// A program that calls one of these gets an operator new of its own that keeps the watch.
AllocationWatch ReadAllocationWatch();
void ResetAllocationWatch();

}  // namespace adit::test

#endif  // ADIT_TESTS_SUPPORT_ALLOCATION_WATCH_H_
