#include "sample/test_allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// The program's own operator new and delete. They stand in a file of their own, where no caller can be inlined next to
// one of a pair without the other.
namespace {

std::atomic<int64_t> num_allocations{0};  // relaxed: a count, nothing is published with it

}  // namespace

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes, std::nothrow); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace adit::sample {

int64_t NumAllocations() { return num_allocations.load(std::memory_order_relaxed); }

}  // namespace adit::sample
