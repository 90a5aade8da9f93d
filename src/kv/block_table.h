#ifndef ADIT_KV_BLOCK_TABLE_H_
#define ADIT_KV_BLOCK_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kv/block_pool.h"

namespace adit::kv {

// What BlockTable::MakeWritable did to a block of the table.
struct WritableBlock {
  enum class State : uint8_t {
    kAlone,        // nobody else refers to the block: nothing has changed
    kCopied,       // a fresh block has taken its place: copy `from` to `to` before reading or writing `to`
    kNoFreeBlock,  // others refer to the block and the pool has no free one: nothing has changed
  };
  State state = State::kAlone;
  BlockHandle from;  // kCopied: the shared block, pinned; let it go once it is copied
  int32_t to = -1;   // kCopied: the id now in the table
};

// The blocks of one sequence (for one group of layers), in the order of its tokens: token t lies in slot
// t % block_size of block ids()[t / block_size]. Holds its blocks until it is truncated or destroyed. Blocks may be
// shared with other tables and with the prefix tree; whoever writes to one must have it alone (MakeWritable).
//
// Blocks at the front may have been let go, since a sliding window has passed them: they keep their indices, with the
// id -1, so that all others keep theirs.
//
// Move-only; one thread at a time; the pool outlives it. Counts of tokens are never negative.
class BlockTable {
 public:
  // The id of a block that was let go.
  static constexpr int32_t kReleased = -1;

  // Tokens to a block: block_size >= 1. Room is set aside for the ids of `max_tokens` tokens: growing up to them
  // allocates no memory.
  BlockTable(BlockPool& pool, int64_t block_size, int64_t max_tokens = 0);
  BlockTable(BlockTable&&) noexcept = default;
  BlockTable& operator=(BlockTable&&) noexcept = default;
  BlockTable(const BlockTable&) = delete;
  BlockTable& operator=(const BlockTable&) = delete;
  ~BlockTable() = default;

  // Takes blocks from the pool until the table reaches `num_tokens` tokens. False when too few are free: then nothing
  // has changed. Never shrinks, and never brings back what was let go.
  [[nodiscard]] bool Reserve(int64_t num_tokens);

  // Drops the blocks, last one first, that the first `num_tokens` tokens do not need.
  void Truncate(int64_t num_tokens);

  // Blocks that Reserve(num_tokens) would take from the pool.
  int64_t BlocksToReserve(int64_t num_tokens) const;

  // Adopts a block as the next one. An empty handle stands for a block that was let go. Precondition: the handle is of
  // this table's pool; an empty one comes before all that are not.
  void Append(BlockHandle block);

  // Puts another block of the same contents in the place of block `index`, which the table still holds; lets go of the
  // old one. Precondition: `block` is of this table's pool and not empty.
  void Replace(int64_t index, BlockHandle block);

  // Lets go of the blocks all of whose tokens lie before `position`; returns how many that were. Amortised constant
  // time for each block.
  int64_t ReleaseBefore(int64_t position);

  // Makes block `index`, which the table holds, its own (copy-on-write). The pool does not move bytes: when the result
  // is kCopied, the caller does.
  [[nodiscard]] WritableBlock MakeWritable(int64_t index);

  // A table that shares all blocks of this one, with room set aside for the ids of `max_tokens` tokens.
  [[nodiscard]] BlockTable Fork(int64_t max_tokens = 0) const;

  // The handle of block `index`; empty when it was let go.
  const BlockHandle& handle(int64_t index) const;
  std::span<const int32_t> ids() const { return ids_; }
  // Blocks up to the last one, those that were let go included.
  int64_t num_blocks() const { return static_cast<int64_t>(ids_.size()); }
  // Blocks let go at the front.
  int64_t num_released() const { return num_released_; }
  int64_t block_size() const { return block_size_; }
  int64_t capacity_tokens() const { return num_blocks() * block_size_; }

 private:
  // Blocks that hold num_tokens tokens, the last one perhaps in part.
  int64_t BlocksFor(int64_t num_tokens) const;

  BlockPool* pool_;
  int64_t block_size_;
  int64_t num_released_ = 0;
  std::vector<BlockHandle> handles_;  // [num_blocks]; the first num_released_ are empty, the others are not
  std::vector<int32_t> ids_;          // [num_blocks], those of handles_; kReleased for the empty ones
};

}  // namespace adit::kv

#endif  // ADIT_KV_BLOCK_TABLE_H_
