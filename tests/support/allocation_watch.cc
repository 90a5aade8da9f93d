#include "support/allocation_watch.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace adit::test {
namespace {

thread_local AllocationWatch watch;

}  // namespace

AllocationWatch ReadAllocationWatch() { return watch; }
void ResetAllocationWatch() { watch = {}; }

}  // namespace adit::test

// The array and nothrow forms of the library come down to these. Over-aligned memory is not watched.
void* operator new(size_t num_bytes) {
  adit::test::watch.count += 1;
  adit::test::watch.largest_bytes = std::max(adit::test::watch.largest_bytes, num_bytes);
  void* memory = std::malloc(std::max<size_t>(num_bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
