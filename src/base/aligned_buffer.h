#ifndef ADIT_BASE_ALIGNED_BUFFER_H_
#define ADIT_BASE_ALIGNED_BUFFER_H_

#include <cstddef>
#include <span>

#include "adit/status.h"

namespace adit {

// Zeroed memory straight from the operating system, page-aligned, huge pages asked for where it is large enough to
// gain by them. Pages cost nothing until they are touched. Movable, not copyable.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // ResourceExhausted, naming `what`, when the system refuses.
  static Result<AlignedBuffer> Allocate(size_t bytes, const char* what);
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace adit

#endif  // ADIT_BASE_ALIGNED_BUFFER_H_
