#include "chat/heap.h"

#include <algorithm>

#include "base/error.h"

namespace adit::chat {
namespace {

constexpr size_t kAlignment = alignof(std::max_align_t);
constexpr size_t kFirstBlockBytes = size_t{16} << 10;
constexpr size_t kLargestBlockBytes = size_t{1} << 20;

}  // namespace

void* Heap::Allocate(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded > bytes_left_) {
    Exhaust("memory");
    bytes_left_ = 0;
  } else {
    bytes_left_ -= rounded;
  }
  if (rounded > kLargestBlockBytes / 4) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(rounded));
    return blocks_.back().get();
  }
  if (rounded > free_) {
    block_bytes_ = std::clamp(block_bytes_ * 2, kFirstBlockBytes, kLargestBlockBytes);
    block_bytes_ = std::max(block_bytes_, rounded);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block_bytes_));
    next_ = blocks_.back().get();
    free_ = block_bytes_;
  }
  void* result = next_;
  next_ += rounded;
  free_ -= rounded;
  return result;
}

bool Heap::Reserve(size_t bytes) {
  if (bytes > bytes_left_) Exhaust("memory");
  return !exhausted();
}

void Heap::Exhaust(const char* limit) {
  if (limit_passed_ == nullptr) limit_passed_ = limit;
}

Status Heap::status() const { return ResourceExhausted("the template passes the limit on {}", limit_passed_); }

}  // namespace adit::chat
