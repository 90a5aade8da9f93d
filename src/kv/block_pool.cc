#include "kv/block_pool.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace adit::kv {

BlockHandle::BlockHandle(BlockHandle&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), block_id_(other.block_id_) {}

BlockHandle& BlockHandle::operator=(BlockHandle&& other) noexcept {
  if (this != &other) {
    Reset();
    pool_ = std::exchange(other.pool_, nullptr);
    block_id_ = other.block_id_;
  }
  return *this;
}

int32_t BlockHandle::id() const {
  ADIT_DCHECK(pool_ != nullptr);
  return block_id_;
}

void BlockHandle::Reset() noexcept {
  if (BlockPool* pool = std::exchange(pool_, nullptr)) pool->Release(block_id_);
}

BlockPool::BlockPool(int32_t num_blocks) : idle_(std::max(num_blocks, 0)) {
  ADIT_CHECK(num_blocks >= 0);
  ref_counts_.resize(static_cast<size_t>(num_blocks));
  flags_.resize(static_cast<size_t>(num_blocks));
  free_.reserve(static_cast<size_t>(num_blocks));
  for (int32_t id = num_blocks - 1; id >= 0; --id) free_.push_back(id);
}

BlockPool::~BlockPool() { ADIT_CHECK(num_free() == num_blocks()); }

std::optional<BlockHandle> BlockPool::Allocate() {
  if (free_.empty()) return std::nullopt;
  const int32_t id = free_.back();
  free_.pop_back();
  ADIT_DCHECK(ref_counts_[static_cast<size_t>(id)] == 0);
  ref_counts_[static_cast<size_t>(id)] = 1;
  return BlockHandle(this, id);
}

BlockHandle BlockPool::Share(const BlockHandle& handle) {
  ADIT_CHECK(handle.pool_ == this);
  const int32_t id = handle.block_id_;
  if (++ref_counts_[static_cast<size_t>(id)] == 2 && is_cached(id)) idle_.Remove(id);
  return BlockHandle(this, id);
}

void BlockPool::MarkCached(int32_t block_id) {
  ADIT_CHECK(ref_count(block_id) >= 1 && !is_cached(block_id));
  flags_[static_cast<size_t>(block_id)] = kCached;
  if (ref_count(block_id) == 1) idle_.PushBack(block_id);
}

void BlockPool::UnmarkCached(int32_t block_id) {
  ADIT_CHECK(is_cached(block_id));
  flags_[static_cast<size_t>(block_id)] = 0;
  if (ref_count(block_id) == 1) idle_.Remove(block_id);
}

void BlockPool::Watch(int32_t block_id) {
  ADIT_DCHECK(is_cached(block_id) && !is_idle(block_id));
  flags_[static_cast<size_t>(block_id)] |= kWatched;
}

std::optional<int32_t> BlockPool::TakeWoken() {
  if (woken_.empty()) return std::nullopt;
  const int32_t id = woken_.back();
  woken_.pop_back();
  return id;
}

int32_t BlockPool::ref_count(int32_t block_id) const {
  ADIT_DCHECK(block_id >= 0 && block_id < num_blocks());
  return ref_counts_[static_cast<size_t>(block_id)];
}

void BlockPool::Release(int32_t block_id) noexcept {
  int32_t& count = ref_counts_[static_cast<size_t>(block_id)];
  uint8_t& flags = flags_[static_cast<size_t>(block_id)];
  ADIT_DCHECK(count > 0);
  --count;
  if (count == 0) {
    ADIT_DCHECK(flags == 0);
    free_.push_back(block_id);
  } else if (count == 1 && (flags & kCached) != 0) {
    idle_.PushBack(block_id);
    if ((flags & kWatched) != 0) woken_.push_back(block_id);
    flags = kCached;
  }
}

}  // namespace adit::kv
