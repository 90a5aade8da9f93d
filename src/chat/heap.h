#ifndef ADIT_CHAT_HEAP_H_
#define ADIT_CHAT_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "adit/status.h"

namespace adit::chat {

// Memory and work of one render, both limited. Objects live until the heap goes and have no destructors, so values may
// point at each other in any shape, cycles included. One thread.
//
// Allocation itself never fails: passing a limit marks the heap as exhausted, and whoever loops looks at exhausted()
// and ends the render with status(). An operation whose result can be much larger than its arguments asks Reserve
// first.
class Heap {
 public:
  struct Limits {
    size_t max_bytes = SIZE_MAX;
    int64_t max_steps = INT64_MAX;
  };

  explicit Heap(const Limits& limits) : bytes_left_(limits.max_bytes), steps_left_(limits.max_steps) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  template <typename T>
  T* New() {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (Allocate(sizeof(T))) T();
  }
  template <typename T>
  T* NewArray(size_t size) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (Allocate(sizeof(T) * size)) T[size];
  }

  // Counts work, in units of about one node of the template. False once a limit is passed.
  bool Spend(int64_t steps) {
    steps_left_ -= steps;
    if (steps_left_ < 0) Exhaust("steps");
    return !exhausted();
  }

  // Whether `bytes` more would stay within the limit; marks the heap as exhausted if not.
  bool Reserve(size_t bytes);

  // Marks the heap as exhausted: `limit` names what was passed ("output").
  void Exhaust(const char* limit);

  bool exhausted() const { return limit_passed_ != nullptr; }
  // ResourceExhausted, naming the limit. Precondition: exhausted().
  Status status() const;

 private:
  void* Allocate(size_t bytes);

  size_t bytes_left_;
  int64_t steps_left_;
  const char* limit_passed_ = nullptr;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;  // free bytes of the last shared block
  size_t free_ = 0;
  size_t block_bytes_ = 0;
};

}  // namespace adit::chat

#endif  // ADIT_CHAT_HEAP_H_
