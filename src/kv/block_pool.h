#ifndef ADIT_KV_BLOCK_POOL_H_
#define ADIT_KV_BLOCK_POOL_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace adit::kv {

class BlockPool;

// One reference to a block of a pool; gives it back when it is destroyed. Move-only, so that every reference is counted
// once. An empty handle refers to nothing.
class BlockHandle {
 public:
  BlockHandle() = default;
  BlockHandle(BlockHandle&& other) noexcept;
  BlockHandle& operator=(BlockHandle&& other) noexcept;
  BlockHandle(const BlockHandle&) = delete;
  BlockHandle& operator=(const BlockHandle&) = delete;
  ~BlockHandle() { Reset(); }

  explicit operator bool() const { return pool_ != nullptr; }
  // In 0..num_blocks-1. Precondition: not empty.
  int32_t id() const;

  // Gives the reference back; the handle is empty after. The block is free once no handle refers to it.
  void Reset() noexcept;

 private:
  friend class BlockPool;
  BlockHandle(BlockPool* pool, int32_t block_id) : pool_(pool), block_id_(block_id) {}

  BlockPool* pool_ = nullptr;
  int32_t block_id_ = 0;
};

// Hands out the ids 0..num_blocks-1 and counts the references to each. The pool knows ids alone: what a block holds,
// and how many bytes, is its user's matter. All operations take constant time. A block freed last is handed out first,
// while its memory is still in the caches; the first blocks of a new pool come in rising order: equal calls give equal
// ids.
//
// Invariants:
// 1. num_free() is the number of ids whose count is 0; those, and no others, are in the free list, each once.
// 2. ref_count(id) is the number of living handles to id. So when all handles are gone, num_free() == num_blocks().
//
// One thread at a time. The pool outlives its handles, and does not move.
class BlockPool {
 public:
  // Precondition: num_blocks >= 0.
  explicit BlockPool(int32_t num_blocks);
  // Checks that every block is back.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // The only reference to a block that was free; nothing when all blocks are in use.
  [[nodiscard]] std::optional<BlockHandle> Allocate();

  // One more reference to the handle's block. Precondition: the handle is of this pool and not empty.
  [[nodiscard]] BlockHandle Share(const BlockHandle& handle);

  int32_t num_blocks() const { return static_cast<int32_t>(ref_counts_.size()); }
  int32_t num_free() const { return static_cast<int32_t>(free_.size()); }
  // Precondition: block_id is in 0..num_blocks-1.
  int32_t ref_count(int32_t block_id) const;

 private:
  friend class BlockHandle;
  void Release(int32_t block_id) noexcept;

  std::vector<int32_t> ref_counts_;  // [num_blocks]
  std::vector<int32_t> free_;        // handed out from the back; its capacity is num_blocks from the start
};

}  // namespace adit::kv

#endif  // ADIT_KV_BLOCK_POOL_H_
