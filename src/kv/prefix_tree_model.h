#ifndef ADIT_KV_PREFIX_TREE_MODEL_H_
#define ADIT_KV_PREFIX_TREE_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "kv/block_pool.h"
#include "kv/block_table.h"
#include "kv/prefix_match.h"

namespace adit::kv {

// For tests: what PrefixTree should do, told by brute force over a flat map of stored blocks. Pages are known by their
// ids, -1 where there is none; who holds them is asked of the pool.
class PrefixTreeModel {
 public:
  using Tokens = std::vector<int32_t>;
  using Path = std::pair<uint64_t, Tokens>;  // a salt, and tokens up to the end of a block

  struct Block {
    std::vector<int32_t> pages;  // [num_groups]
    int64_t last_used = 0;
  };

  struct Match {
    int64_t num_tokens = 0;
    int64_t partial_tokens = 0;
    MissReason reason = MissReason::kNone;
    int64_t miss_position = 0;
    std::set<int32_t> stored_tokens = {-1};  // any of them will do
  };

  // `trusts_nothing`: the tree's hash is a constant, so that after one eviction it takes every miss for evicted.
  PrefixTreeModel(const BlockPool& pool, int64_t block_size, std::vector<int64_t> windows, bool trusts_nothing)
      : pool_(pool), block_size_(block_size), windows_(std::move(windows)), trusts_nothing_(trusts_nothing) {}

  const std::map<Path, Block>& blocks() const { return blocks_; }

  // The answer to PrefixTree::Match(tokens, tokens.size(), salt); refreshes as that does.
  Match Find(const Tokens& tokens, uint64_t salt) {
    const auto size = static_cast<int64_t>(tokens.size());
    int64_t stored = 0, usable = 0;
    while ((stored + 1) * block_size_ <= size && Stored(tokens, stored + 1, salt)) {
      ++stored;
      if (IsUsable(tokens, stored, salt)) usable = stored;
    }
    Refresh(tokens, usable, salt);
    Match match{.num_tokens = usable * block_size_};

    // What follows the match: the children of its last block.
    int64_t closest = -1;
    for (const auto& [path, block] : blocks_) {
      if (path.first != salt || static_cast<int64_t>(path.second.size()) != match.num_tokens + block_size_) continue;
      const auto common = std::mismatch(path.second.begin(), path.second.end(), tokens.begin(), tokens.end());
      const int64_t more = (common.first - path.second.begin()) - match.num_tokens;
      if (more < 0) continue;
      if (more < block_size_) {
        if (more > closest) match.stored_tokens.clear();
        if (more >= closest) match.stored_tokens.insert(path.second[static_cast<size_t>(match.num_tokens + more)]);
      }
      closest = std::max(closest, more);
      if (std::ranges::count(block.pages, -1) == 0) match.partial_tokens = std::max(match.partial_tokens, more);
    }
    SetMiss(tokens, salt, stored, closest, match);
    return match;
  }

  // Call with the tables' ids from before PrefixTree::Insert(tokens, tokens.size(), salt, tables), which this changes
  // to those from after it.
  void Insert(const Tokens& tokens, uint64_t salt, std::vector<std::vector<int32_t>>& ids) {
    int64_t num_blocks = static_cast<int64_t>(tokens.size()) / block_size_;
    const auto has_page = [&](int64_t i) {
      return std::ranges::any_of(ids, [&](const auto& table) { return table[static_cast<size_t>(i)] >= 0; });
    };
    while (num_blocks > 0 && !Stored(tokens, num_blocks, salt) && !has_page(num_blocks - 1)) --num_blocks;
    for (int64_t i = 0; i < num_blocks; ++i) {
      Block& block = blocks_[PathOf(tokens, i + 1, salt)];
      block.pages.resize(windows_.size(), -1);
      for (size_t group = 0; group < windows_.size(); ++group) {
        int32_t& held = ids[group][static_cast<size_t>(i)];
        if (held < 0) continue;
        if (block.pages[group] < 0) block.pages[group] = held;
        held = block.pages[group];
      }
    }
    Refresh(tokens, num_blocks, salt);
  }

  // What PrefixTree::Evict(num_blocks) removes; returns how many pages that frees.
  int64_t Evict(int64_t num_blocks) {
    std::vector<int32_t> idle;  // longest idle first; the tree has not evicted yet
    for (int32_t id = pool_.oldest_idle(); id != IdList::kNone; id = pool_.next_idle(id)) idle.push_back(id);
    int64_t freed = 0;
    while (true) {
      while (freed < num_blocks && EvictLeafBlock(freed)) {
      }
      for (size_t i = 0; i < idle.size() && freed < num_blocks; ++i) {
        if (int32_t* page = FindPage(idle[i], /*windowed=*/true)) {
          *page = -1;
          ++freed;
          ++windowed_evictions_;
        }
      }
      if (freed >= num_blocks || num_evictable() == 0) return freed;
      // All that is idle now is in groups without a window.
      const auto oldest = std::ranges::find_if(idle, [&](int32_t id) { return FindPage(id, false) != nullptr; });
      freed += EvictSubtree(*oldest);
      ++subtree_evictions_;
    }
  }

  void Clear() {
    blocks_.clear();
    evicted_.clear();
  }

  // How often the second and the third rule of eviction were needed.
  int64_t windowed_evictions() const { return windowed_evictions_; }
  int64_t subtree_evictions() const { return subtree_evictions_; }

  int64_t num_pages() const {
    return CountPages([](int32_t) { return true; });
  }
  int64_t num_evictable() const {
    return CountPages([&](int32_t id) { return IsIdle(id); });
  }

 private:
  int64_t num_groups() const { return static_cast<int64_t>(windows_.size()); }
  bool IsIdle(int32_t id) const { return pool_.ref_count(id) == 1; }

  Path PathOf(const Tokens& tokens, int64_t num_blocks, uint64_t salt) const {
    return {salt, Tokens(tokens.begin(), tokens.begin() + num_blocks * block_size_)};
  }
  bool Stored(const Tokens& tokens, int64_t num_blocks, uint64_t salt) const {
    return blocks_.contains(PathOf(tokens, num_blocks, salt));
  }

  // Position by position, from the definition.
  bool IsUsable(const Tokens& tokens, int64_t num_blocks, uint64_t salt) const {
    const int64_t length = num_blocks * block_size_;
    for (size_t group = 0; group < windows_.size(); ++group) {
      for (int64_t p = 0; p < length; ++p) {
        if (windows_[group] > 0 && p <= length - windows_[group]) continue;
        if (blocks_.at(PathOf(tokens, p / block_size_ + 1, salt)).pages[group] < 0) return false;
      }
    }
    return true;
  }

  static bool BeginsWith(const Path& path, const Path& prefix) {
    return path.first == prefix.first && path.second.size() >= prefix.second.size() &&
           std::equal(prefix.second.begin(), prefix.second.end(), path.second.begin());
  }
  bool IsLeaf(const Path& path) const {
    const auto after = blocks_.upper_bound(path);  // extensions of a path directly follow it
    return after == blocks_.end() || !BeginsWith(after->first, path);
  }

  // First rule of eviction; adds the pages to `freed`. False when it does not apply.
  bool EvictLeafBlock(int64_t& freed) {
    const Path* victim = nullptr;
    for (const auto& [path, block] : blocks_) {
      if (!IsLeaf(path) || !std::ranges::all_of(block.pages, [&](int32_t id) { return id < 0 || IsIdle(id); }))
        continue;
      if (victim == nullptr || block.last_used < blocks_.at(*victim).last_used) victim = &path;
    }
    if (victim == nullptr || num_evictable() == 0) return false;
    Path path = *victim;
    do {
      for (const int32_t id : blocks_.at(path).pages) freed += id >= 0 ? 1 : 0;
      blocks_.erase(path);
      evicted_.insert(path);
      path.second.resize(path.second.size() - static_cast<size_t>(block_size_));
    } while (blocks_.contains(path) && IsLeaf(path) && std::ranges::count(blocks_[path].pages, -1) == num_groups());
    return true;
  }

  // Third rule: the block of that page and all that extend it go.
  int64_t EvictSubtree(int32_t page) {
    const auto has_page = [&](const auto& entry) { return std::ranges::count(entry.second.pages, page) > 0; };
    const Path top = std::find_if(blocks_.begin(), blocks_.end(), has_page)->first;
    int64_t freed = 0;
    for (auto at = blocks_.find(top); at != blocks_.end() && BeginsWith(at->first, top);) {
      for (const int32_t id : at->second.pages) freed += id >= 0 && IsIdle(id) ? 1 : 0;
      evicted_.insert(at->first);
      at = blocks_.erase(at);
    }
    return freed;
  }

  // Where the model keeps that page, of a group with or without a window; null when it does not.
  int32_t* FindPage(int32_t page, bool windowed) {
    for (auto& [path, block] : blocks_) {
      for (size_t group = 0; group < windows_.size(); ++group) {
        if (block.pages[group] == page && (windows_[group] > 0) == windowed) return &block.pages[group];
      }
    }
    return nullptr;
  }

  void Refresh(const Tokens& tokens, int64_t num_blocks, uint64_t salt) {
    ++clock_;
    // Of one path the last block is the oldest: it goes first.
    for (int64_t i = 1; i <= num_blocks; ++i) blocks_.at(PathOf(tokens, i, salt)).last_used = clock_ * 1000 - i;
  }

  void SetMiss(const Tokens& tokens, uint64_t salt, int64_t stored, int64_t closest, Match& match) const {
    const auto size = static_cast<int64_t>(tokens.size());
    const int64_t usable = match.num_tokens / block_size_;
    match.miss_position = match.num_tokens + match.partial_tokens;
    match.reason = [&] {
      if (size > 0 && match.miss_position == size) return MissReason::kNone;
      if (size - match.num_tokens < block_size_) return MissReason::kTooShort;
      if (stored > usable) return MissReason::kEvicted;
      if (trusts_nothing_ ? !evicted_.empty() : evicted_.contains(PathOf(tokens, usable + 1, salt))) {
        return MissReason::kEvicted;
      }
      const Tokens first(tokens.begin(), tokens.begin() + block_size_);
      bool any_here = false, first_elsewhere = false;
      for (const auto& [path, block] : blocks_) {
        any_here |= path.first == salt;
        first_elsewhere |= path.first != salt && path.second == first;
      }
      if (usable == 0 && first_elsewhere) return MissReason::kSaltedApart;
      if (!any_here) return MissReason::kEmpty;
      return closest < 0 ? MissReason::kNone : MissReason::kDiverged;
    }();
    if (match.reason == MissReason::kDiverged) {
      match.miss_position = match.num_tokens + closest;
    } else {
      match.stored_tokens = {-1};
    }
  }

  template <typename Predicate>
  int64_t CountPages(Predicate predicate) const {
    int64_t count = 0;
    for (const auto& [path, block] : blocks_) {
      for (const int32_t id : block.pages) count += id >= 0 && predicate(id) ? 1 : 0;
    }
    return count;
  }

  const BlockPool& pool_;
  int64_t block_size_;
  std::vector<int64_t> windows_;
  bool trusts_nothing_;
  std::map<Path, Block> blocks_;
  std::set<Path> evicted_;
  int64_t clock_ = 0;
  int64_t windowed_evictions_ = 0;
  int64_t subtree_evictions_ = 0;
};

}  // namespace adit::kv

#endif  // ADIT_KV_PREFIX_TREE_MODEL_H_
