#ifndef ADIT_KV_BLOCK_TABLE_H_
#define ADIT_KV_BLOCK_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kv/block_pool.h"

namespace adit::kv {

// The blocks of one sequence, in the order of its tokens: token t lies in slot t % block_size of block
// ids()[t / block_size]. Holds its blocks until it is truncated or destroyed. Move-only; one thread at a time; the pool
// outlives it. Counts of tokens are never negative.
class BlockTable {
 public:
  // Tokens to a block: block_size >= 1. Room is set aside for the ids of `max_tokens` tokens: growing up to them
  // allocates no memory.
  BlockTable(BlockPool& pool, int64_t block_size, int64_t max_tokens = 0);
  BlockTable(BlockTable&&) noexcept = default;
  BlockTable& operator=(BlockTable&&) noexcept = default;
  BlockTable(const BlockTable&) = delete;
  BlockTable& operator=(const BlockTable&) = delete;
  ~BlockTable() = default;

  // Takes blocks from the pool until the table holds `num_tokens` tokens. False when too few are free: then nothing has
  // changed. Never shrinks.
  [[nodiscard]] bool Reserve(int64_t num_tokens);

  // Gives back the blocks, last one first, that the first `num_tokens` tokens do not need.
  void Truncate(int64_t num_tokens);

  // Blocks that Reserve(num_tokens) would take from the pool.
  int64_t BlocksToReserve(int64_t num_tokens) const;

  std::span<const int32_t> ids() const { return ids_; }
  int64_t num_blocks() const { return static_cast<int64_t>(ids_.size()); }
  int64_t block_size() const { return block_size_; }
  int64_t capacity_tokens() const { return num_blocks() * block_size_; }

 private:
  // Blocks that hold num_tokens tokens, the last one perhaps in part.
  int64_t BlocksFor(int64_t num_tokens) const;

  BlockPool* pool_;
  int64_t block_size_;
  std::vector<BlockHandle> handles_;  // [num_blocks]
  std::vector<int32_t> ids_;          // [num_blocks], those of handles_
};

}  // namespace adit::kv

#endif  // ADIT_KV_BLOCK_TABLE_H_
