#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "base/error.h"

namespace adit {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kHugePageBytes = size_t{2} << 20;

}  // namespace

Result<AlignedBuffer> AlignedBuffer::Allocate(size_t bytes, const char* what) {
  AlignedBuffer buffer;
  if (bytes == 0) return buffer;
  // Large buffers start on a huge page's border: map one huge page more, then give back what lies before and after.
  const size_t granule = bytes >= kHugePageBytes ? kHugePageBytes : kPageBytes;
  const size_t slack = granule == kHugePageBytes ? kHugePageBytes : 0;
  if (bytes > SIZE_MAX / 2) return ResourceExhausted("{}: {} bytes cannot be addressed", what, bytes);
  const size_t size_bytes = (bytes + granule - 1) / granule * granule;
  void* memory =
      mmap(nullptr, size_bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return ResourceExhausted("{}: the system refused {} bytes of memory", what, bytes);
  std::byte* start = static_cast<std::byte*>(memory);
  if (slack != 0) {
    const size_t before = (granule - reinterpret_cast<uintptr_t>(start) % granule) % granule;
    if (before != 0) munmap(start, before);
    if (before != slack) munmap(start + before + size_bytes, slack - before);
    start += before;
    madvise(start, size_bytes, MADV_HUGEPAGE);
  }
  buffer.data_ = start;
  buffer.size_bytes_ = size_bytes;
  return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ != nullptr) munmap(data_, size_bytes_);
}

}  // namespace adit
