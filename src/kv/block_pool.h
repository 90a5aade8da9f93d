#ifndef ADIT_KV_BLOCK_POOL_H_
#define ADIT_KV_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kv/id_list.h"

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
// 3. The idle list holds the blocks that are marked as cached and have one reference, and no others.
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

  // A cache that keeps a reference to a block for later use marks the block as *cached*. The block is *idle* while that
  // reference is the only one: nobody but the cache would miss it. Preconditions: the block is in use and not yet
  // cached; or is cached. The mark must be taken away before the cache's reference goes.
  void MarkCached(int32_t block_id);
  void UnmarkCached(int32_t block_id);
  bool is_cached(int32_t block_id) const { return (flags_[static_cast<size_t>(block_id)] & kCached) != 0; }
  bool is_idle(int32_t block_id) const { return idle_.contains(block_id); }
  int32_t num_idle() const { return idle_.size(); }
  // Idle blocks in the order in which they became idle, the longest idle first; IdList::kNone ends it.
  int32_t oldest_idle() const { return idle_.front(); }
  int32_t next_idle(int32_t block_id) const { return idle_.next(block_id); }

  // Asks to be told when a cached block that is not idle next becomes idle: TakeWoken() then returns its id, once. The
  // block may have found another user since. Unmarking ends the watch.
  void Watch(int32_t block_id);
  [[nodiscard]] std::optional<int32_t> TakeWoken();

  int32_t num_blocks() const { return static_cast<int32_t>(ref_counts_.size()); }
  int32_t num_free() const { return static_cast<int32_t>(free_.size()); }
  // Precondition: block_id is in 0..num_blocks-1.
  int32_t ref_count(int32_t block_id) const;

 private:
  friend class BlockHandle;
  static constexpr uint8_t kCached = 1;
  static constexpr uint8_t kWatched = 2;

  void Release(int32_t block_id) noexcept;

  std::vector<int32_t> ref_counts_;  // [num_blocks]
  std::vector<uint8_t> flags_;       // [num_blocks], of kCached and kWatched
  std::vector<int32_t> free_;        // handed out from the back; its capacity is num_blocks from the start
  IdList idle_;
  std::vector<int32_t> woken_;  // watched blocks that became idle and were not yet taken
};

}  // namespace adit::kv

#endif  // ADIT_KV_BLOCK_POOL_H_
