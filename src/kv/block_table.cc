#include "kv/block_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace adit::kv {

BlockTable::BlockTable(BlockPool& pool, int64_t block_size, int64_t max_tokens)
    : pool_(&pool), block_size_(block_size) {
  ADIT_CHECK(block_size >= 1);
  // No table holds more blocks than its pool has.
  const auto max_blocks = static_cast<size_t>(std::min<int64_t>(BlocksFor(max_tokens), pool.num_blocks()));
  handles_.reserve(max_blocks);
  ids_.reserve(max_blocks);
}

bool BlockTable::Reserve(int64_t num_tokens) {
  const int64_t wanted = BlocksToReserve(num_tokens);
  if (wanted > pool_->num_free()) return false;
  for (int64_t i = 0; i < wanted; ++i) {
    std::optional<BlockHandle> block = pool_->Allocate();
    ADIT_CHECK(block.has_value());
    ids_.push_back(block->id());
    handles_.push_back(*std::move(block));
  }
  return true;
}

void BlockTable::Truncate(int64_t num_tokens) {
  const int64_t kept = BlocksFor(num_tokens);
  while (num_blocks() > kept) {
    handles_.pop_back();
    ids_.pop_back();
  }
  num_released_ = std::min(num_released_, num_blocks());
}

int64_t BlockTable::BlocksToReserve(int64_t num_tokens) const {
  return std::max<int64_t>(0, BlocksFor(num_tokens) - num_blocks());
}

void BlockTable::Append(BlockHandle block) {
  if (block) {
    ids_.push_back(block.id());
  } else {
    ADIT_CHECK(num_released_ == num_blocks());
    ids_.push_back(kReleased);
    ++num_released_;
  }
  handles_.push_back(std::move(block));
}

void BlockTable::Replace(int64_t index, BlockHandle block) {
  ADIT_CHECK(index >= num_released_ && index < num_blocks() && block);
  ids_[static_cast<size_t>(index)] = block.id();
  handles_[static_cast<size_t>(index)] = std::move(block);
}

int64_t BlockTable::ReleaseBefore(int64_t position) {
  const int64_t end = std::min(std::max<int64_t>(0, position) / block_size_, num_blocks());
  const int64_t begin = num_released_;
  for (; num_released_ < end; ++num_released_) {
    handles_[static_cast<size_t>(num_released_)].Reset();
    ids_[static_cast<size_t>(num_released_)] = kReleased;
  }
  return num_released_ - begin;
}

WritableBlock BlockTable::MakeWritable(int64_t index) {
  ADIT_CHECK(index >= num_released_ && index < num_blocks());
  BlockHandle& held = handles_[static_cast<size_t>(index)];
  if (pool_->ref_count(held.id()) == 1) return {};
  std::optional<BlockHandle> fresh = pool_->Allocate();
  if (!fresh) return {.state = WritableBlock::State::kNoFreeBlock};
  const int32_t to = fresh->id();
  BlockHandle from = std::exchange(held, *std::move(fresh));
  ids_[static_cast<size_t>(index)] = to;
  return {.state = WritableBlock::State::kCopied, .from = std::move(from), .to = to};
}

BlockTable BlockTable::Fork(int64_t max_tokens) const {
  BlockTable fork(*pool_, block_size_, std::max(max_tokens, capacity_tokens()));
  for (const BlockHandle& each : handles_) fork.Append(each ? pool_->Share(each) : BlockHandle());
  return fork;
}

const BlockHandle& BlockTable::handle(int64_t index) const {
  ADIT_DCHECK(index >= 0 && index < num_blocks());
  return handles_[static_cast<size_t>(index)];
}

int64_t BlockTable::BlocksFor(int64_t num_tokens) const {
  ADIT_DCHECK(num_tokens >= 0);
  return num_tokens / block_size_ + (num_tokens % block_size_ != 0 ? 1 : 0);
}

}  // namespace adit::kv
