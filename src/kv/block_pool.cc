#include "kv/block_pool.h"

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

BlockPool::BlockPool(int32_t num_blocks) {
  ADIT_CHECK(num_blocks >= 0);
  ref_counts_.resize(static_cast<size_t>(num_blocks));
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
  ++ref_counts_[static_cast<size_t>(handle.block_id_)];
  return BlockHandle(this, handle.block_id_);
}

int32_t BlockPool::ref_count(int32_t block_id) const {
  ADIT_DCHECK(block_id >= 0 && block_id < num_blocks());
  return ref_counts_[static_cast<size_t>(block_id)];
}

void BlockPool::Release(int32_t block_id) noexcept {
  int32_t& count = ref_counts_[static_cast<size_t>(block_id)];
  ADIT_DCHECK(count > 0);
  if (--count == 0) free_.push_back(block_id);
}

}  // namespace adit::kv
