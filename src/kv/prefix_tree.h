#ifndef ADIT_KV_PREFIX_TREE_H_
#define ADIT_KV_PREFIX_TREE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "kv/block_pool.h"
#include "kv/block_table.h"
#include "kv/page_times.h"
#include "kv/prefix_match.h"
#include "kv/recent_hashes.h"
#include "kv/token_hash.h"

namespace adit::kv {

struct PrefixNode;

struct PrefixTreeOptions {
  int64_t block_size = 16;  // tokens to a block, >= 1
  // [num_groups], at least one. 0: the group's layers see everything; w > 0: a query at position p sees p-w+1..p.
  std::vector<int64_t> windows = {0};
  // Finds candidates, whose tokens are then compared. The memory of evictions alone relies on it: equal hashes of
  // different paths can make a reason wrong, never a match.
  TokenHash hash = &HashTokens;
};

// The keys and values of past sequences, kept for those that begin with the same tokens: a radix tree over token ids
// whose edges are runs of whole blocks. A *block* of the tree is block_size tokens and up to one *page* (a block of the
// pool) for each group of layers. Each salt (a tenant) has a tree of its own and finds nothing of the others'.
//
// A prefix of whole blocks is *usable* when every group has the pages that a query right behind it sees: all of them,
// or, in a group with window w, those of the last w-1 positions.
//
// The pages belong to the tree and to sequences at once. Sequences take references to them by Match and give theirs to
// the tree by Insert; the tree gives its own back by Evict and Clear. A page is free once neither holds it.
//
// Invariants:
// 1. A node has at least one block; roots have none, and at least one child. The children of a node differ in their
//    first block, so at most one can match: the walk never backtracks.
// 2. A block has the pages of all groups without a window. The last block of a leaf has a page.
// 3. All blocks of a node were last used by the same call, and a parent no earlier than its child. So no two leaves
//    were last used by the same call, and eviction goes by single blocks in the true order of use.
// 4. A page of the tree is marked as cached in the pool, and pages that are marked are the tree's: one tree to a pool.
//
// Engine thread only. The pool outlives the tree.
class PrefixTree {
 public:
  PrefixTree(BlockPool& pool, PrefixTreeOptions options);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  // The longest usable prefix of the first max_tokens of `tokens`, with references to its pages; refreshes it. Callers
  // pass one token less than the prompt has, since the last one must run to give logits. Never fails: no match has no
  // tokens. The partial block is sought among the 16 most recently used that follow the prefix. O(max_tokens).
  PrefixMatch Match(std::span<const int32_t> tokens, int64_t max_tokens, uint64_t salt);

  // The num_tokens that Match would find. Changes nothing: the scheduler orders waiting prompts by it.
  int64_t MatchLength(std::span<const int32_t> tokens, int64_t max_tokens, uint64_t salt) const;

  // Stores the whole blocks of the first num_tokens of `tokens`, which the sequence with these tables [num_groups] has
  // computed; refreshes them. Where both the tree and a table have a page of a block, the table's is replaced by the
  // tree's, which holds the same values. Where the tree lacks one and the table has it, the tree takes a reference.
  // Preconditions: the tables hold num_tokens tokens of this block size, and those of groups without a window have let
  // nothing go. O(num_tokens).
  void Insert(std::span<const int32_t> tokens, int64_t num_tokens, uint64_t salt, std::span<BlockTable> tables);

  // Frees at least num_blocks pages, or all that nobody else holds if they are fewer; returns how many, which may be
  // somewhat more since blocks go whole. By the first of these rules that applies, again and again:
  // 1. The last block of a leaf goes, if others hold none of its pages: of the least recently used such leaf.
  // 2. Of the pages of groups with a window, the one that has been idle for longest goes. Its block stays.
  // 3. The block of the page that has been idle for longest goes, with all below it. Others hold pages there, and
  //    keep them. Sequences hold prefixes, so they hold pages of the block above too, but they may be others than the
  //    tree's: when Insert replaces duplicates it does not reach the forks of the sequence.
  // O(log num_nodes) for each page, amortised, however many leaves are in use.
  int64_t Evict(int64_t num_blocks);

  // The pages that Evict can free: exactly the idle pages of the pool, which it counts as references come and go. No
  // others, since any other page of the tree has another holder; and all of them, since the third rule applies to
  // whatever the first two leave. O(1).
  int64_t num_evictable() const { return pool_.num_idle(); }

  // The time of the calls that follow (PageTimes): for page_times alone.
  void AdvanceTo(double now_s) { times_.AdvanceTo(now_s); }

  // Lets everything go, the memory of evictions too; sequences keep what they hold.
  void Clear();

  int64_t num_nodes() const { return static_cast<int64_t>(index_.size()); }
  // Pages held.
  int64_t num_blocks() const { return num_blocks_; }
  int64_t block_size() const { return block_size_; }
  int64_t num_groups() const { return static_cast<int64_t>(windows_.size()); }
  const PrefixTreeStats& stats() const { return stats_; }
  const PageTimeStats& page_times() const { return times_.stats(); }

  // Checks invariants 1 to 4 and all that is kept twice. For tests: O(size of the tree).
  void CheckInvariants() const;

 private:
  using NodeIndex = std::unordered_multimap<uint64_t, PrefixNode*>;

  // The nodes that agree with given tokens, from the root's child down; of the last one perhaps the first blocks alone.
  struct Path {
    uint64_t salt = 0;
    PrefixNode* root = nullptr;  // null: nothing is stored under the salt
    std::vector<PrefixNode*> nodes;
    int64_t num_blocks = 0;
  };

  // The child whose first block shares most tokens with what follows a path.
  struct Similar {
    const PrefixNode* closest = nullptr;  // the most similar child; null: the path ends in a leaf
    int64_t closest_tokens = 0;
    const PrefixNode* source = nullptr;  // the most similar one that has all pages and shares a token
    int64_t source_tokens = 0;
  };

  // Where a page of the tree is.
  struct Location {
    PrefixNode* node = nullptr;
    int64_t block = 0;  // counted from the start of the path, so a split does not change it
    int64_t group = 0;
  };

  // Queries.
  Path Walk(std::span<const int32_t> tokens, uint64_t salt) const;
  PrefixNode* FindChild(const PrefixNode& parent, std::span<const int32_t> block) const;
  int64_t UsableBlocks(const Path& path) const;
  // The first block that group `group` needs for a query behind num_blocks blocks.
  int64_t FirstNeededBlock(int64_t group, int64_t num_blocks) const;
  Similar FindSimilar(const Path& path, std::span<const int32_t> rest) const;
  bool StoredUnderAnotherSalt(const Path& path, std::span<const int32_t> block) const;
  void SharePages(const Path& path, PrefixMatch& match);
  void SetMiss(std::span<const int32_t> tokens, const Path& path, int64_t stored_blocks, const Similar& similar,
               PrefixMatch& match) const;
  std::span<const int32_t> Block(std::span<const int32_t> tokens, int64_t index) const;

  // Growth.
  void Cut(Path& path, int64_t num_blocks);
  void Split(PrefixNode* node, int64_t num_blocks);
  void Refresh(const Path& path);
  PrefixNode* AddNode(Path& path, std::span<const int32_t> tokens);
  void MergePages(PrefixNode& node, std::span<BlockTable> tables);

  // Eviction.
  void AddCandidate(PrefixNode* leaf);
  void RemoveCandidate(PrefixNode* leaf);
  void WakeLeaves();
  int32_t PageHeldByOthers(const PrefixNode& leaf) const;
  int64_t EvictLeaves(int64_t num_blocks);
  int64_t EvictWindowedPages(int64_t num_blocks);
  int64_t EvictBelow(const Location& location);
  int64_t EvictLastBlock(PrefixNode* leaf);
  int64_t PopBlock(PrefixNode& leaf);
  PrefixNode* RemoveNode(PrefixNode* node);
  bool EvictPage(BlockHandle& page);
  bool LetGo(BlockHandle& page);

  int64_t CheckBlocks(const PrefixNode& node) const;

  BlockPool& pool_;
  // Constant after construction.
  int64_t block_size_;
  std::vector<int64_t> windows_;  // [num_groups]
  bool any_window_;
  TokenHash hash_;

  std::unordered_map<uint64_t, std::unique_ptr<PrefixNode>> roots_;  // by salt; those with children
  NodeIndex index_;         // all nodes but roots, by the hash of their path up to their first block
  NodeIndex first_blocks_;  // the children of roots, by the hash of their first block without the salt
  PageTimes times_;
  std::vector<Location> locations_;  // [pool.num_blocks()]; no node where the page is not the tree's

  // Leaves by the time of their last use, but for those that Evict found in use: their page's watch brings them back.
  std::map<uint64_t, PrefixNode*> candidates_;
  uint64_t clock_ = 0;    // counts the calls that use nodes
  RecentHashes evicted_;  // paths up to blocks that were evicted
  int64_t num_blocks_ = 0;
  PrefixTreeStats stats_;
};

}  // namespace adit::kv

#endif  // ADIT_KV_PREFIX_TREE_H_
