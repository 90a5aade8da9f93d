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
}

int64_t BlockTable::BlocksToReserve(int64_t num_tokens) const {
  return std::max<int64_t>(0, BlocksFor(num_tokens) - num_blocks());
}

int64_t BlockTable::BlocksFor(int64_t num_tokens) const {
  ADIT_DCHECK(num_tokens >= 0);
  return num_tokens / block_size_ + (num_tokens % block_size_ != 0 ? 1 : 0);
}

}  // namespace adit::kv
