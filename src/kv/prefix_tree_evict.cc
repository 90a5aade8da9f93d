// How PrefixTree lets pages go.

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "kv/prefix_node.h"
#include "kv/prefix_tree.h"

namespace adit::kv {
namespace {

// Erases the entry of `node`. Precondition: there is one.
void EraseEntry(std::unordered_multimap<uint64_t, PrefixNode*>& index, uint64_t key, const PrefixNode* node) {
  const auto [begin, end] = index.equal_range(key);
  const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second == node; });
  ADIT_CHECK(found != end);
  index.erase(found);
}

}  // namespace

int64_t PrefixTree::Evict(int64_t num_blocks) {
  WakeLeaves();
  const int64_t held_before = num_blocks_;
  int64_t freed = 0;
  while (true) {
    freed += EvictLeaves(num_blocks - freed);
    freed += EvictWindowedPages(num_blocks - freed);
    if (freed >= num_blocks || num_evictable() == 0) break;
    freed += EvictBelow(locations_[static_cast<size_t>(pool_.oldest_idle())]);
  }
  stats_.evicted_blocks += held_before - num_blocks_;
  return freed;
}

// First rule. A leaf that others use is met once: it then stops being a candidate until one of their pages becomes
// idle. So the leaves of running sequences cost nothing, however often this is called while they run.
int64_t PrefixTree::EvictLeaves(int64_t num_blocks) {
  int64_t freed = 0;
  while (freed < num_blocks && num_evictable() > 0 && !candidates_.empty()) {
    PrefixNode* leaf = candidates_.begin()->second;
    const int32_t held_page = PageHeldByOthers(*leaf);
    if (held_page == IdList::kNone) {
      freed += EvictLastBlock(leaf);
    } else {
      RemoveCandidate(leaf);
      pool_.Watch(held_page);
    }
  }
  return freed;
}

// Second rule.
int64_t PrefixTree::EvictWindowedPages(int64_t num_blocks) {
  if (!any_window_) return 0;
  int64_t freed = 0;
  int32_t next = pool_.oldest_idle();
  while (freed < num_blocks && next != IdList::kNone) {
    const Location location = locations_[static_cast<size_t>(next)];
    next = pool_.next_idle(next);
    if (windows_[static_cast<size_t>(location.group)] == 0) continue;
    EvictPage(location.node->page(location.block - location.node->first_block, location.group));
    ++freed;
  }
  return freed;
}

// Third rule: removes the block there and all below it, node by node from the leaves up.
int64_t PrefixTree::EvictBelow(const Location& location) {
  PrefixNode* top = location.node;
  if (location.block > top->first_block) {
    Split(top, location.block - top->first_block);
    top = top->children.front().get();
  }
  int64_t freed = 0;
  for (PrefixNode* node = top;;) {
    while (!node->is_leaf()) node = node->children.front().get();
    while (node->num_blocks() > 0) freed += PopBlock(*node);
    PrefixNode* parent = node->parent;
    const bool was_top = node == top;
    RemoveNode(node);
    if (was_top) return freed;
    node = parent;
  }
}

// Puts back among the candidates the leaves that were found in use and may no longer be.
void PrefixTree::WakeLeaves() {
  while (const std::optional<int32_t> page = pool_.TakeWoken()) {
    PrefixNode* node = locations_[static_cast<size_t>(*page)].node;
    if (node != nullptr && node->is_leaf() && !node->is_candidate) AddCandidate(node);
  }
}

// A page of the leaf's last block that is not idle, or kNone.
int32_t PrefixTree::PageHeldByOthers(const PrefixNode& leaf) const {
  for (int64_t group = 0; group < num_groups(); ++group) {
    const BlockHandle& page = leaf.page(leaf.num_blocks() - 1, group);
    if (page && !pool_.is_idle(page.id())) return page.id();
  }
  return IdList::kNone;
}

// Removes the last block of a leaf, and with it the blocks above that have no page and end a leaf then. Returns the
// pages freed. Precondition: others hold none of the last block's.
int64_t PrefixTree::EvictLastBlock(PrefixNode* leaf) {
  const auto has_page = [&](const PrefixNode& node) {
    const auto last_pages = std::span(node.pages).last(windows_.size());
    return std::ranges::any_of(last_pages, &BlockHandle::operator bool);
  };
  int64_t freed = 0;
  do {
    freed += PopBlock(*leaf);
    if (leaf->num_blocks() == 0) leaf = RemoveNode(leaf);
  } while (leaf != nullptr && !has_page(*leaf));
  return freed;
}

// Drops the last block of a leaf; returns how many pages that frees.
int64_t PrefixTree::PopBlock(PrefixNode& leaf) {
  int64_t freed = 0;
  for (int64_t group = 0; group < num_groups(); ++group) {
    BlockHandle& page = leaf.page(leaf.num_blocks() - 1, group);
    if (page && EvictPage(page)) ++freed;
  }
  evicted_.Add(leaf.hashes.back());
  if (leaf.num_blocks() == 1) {
    // The entries of the indices go while their keys are known.
    EraseEntry(index_, leaf.hashes.front(), &leaf);
    if (leaf.parent->is_root()) EraseEntry(first_blocks_, hash_(0, leaf.tokens), &leaf);
  }
  leaf.hashes.pop_back();
  leaf.tokens.resize(leaf.tokens.size() - static_cast<size_t>(block_size_));
  leaf.pages.resize(leaf.pages.size() - windows_.size());
  return freed;
}

// Removes a leaf that has no blocks left. Returns its parent if that is a leaf now; a root goes too then.
PrefixNode* PrefixTree::RemoveNode(PrefixNode* node) {
  PrefixNode* parent = node->parent;
  if (node->is_candidate) RemoveCandidate(node);
  parent->children.erase(node->place);
  if (!parent->is_leaf()) return nullptr;
  if (parent->is_root()) {
    roots_.erase(parent->salt);
    return nullptr;
  }
  AddCandidate(parent);
  return parent;
}

bool PrefixTree::EvictPage(BlockHandle& page) {
  times_.Evict(page.id());
  return LetGo(page);
}

// Gives the tree's reference to a page back; returns whether that freed it.
bool PrefixTree::LetGo(BlockHandle& page) {
  const bool is_idle = pool_.is_idle(page.id());
  locations_[static_cast<size_t>(page.id())] = {};
  pool_.UnmarkCached(page.id());
  page.Reset();
  --num_blocks_;
  return is_idle;
}

void PrefixTree::AddCandidate(PrefixNode* leaf) {
  const bool is_new = candidates_.emplace(leaf->last_used, leaf).second;
  ADIT_DCHECK(is_new && !leaf->is_candidate);
  leaf->is_candidate = true;
}

void PrefixTree::RemoveCandidate(PrefixNode* leaf) {
  candidates_.erase(leaf->last_used);
  leaf->is_candidate = false;
}

void PrefixTree::Clear() {
  // Node by node: a long path of small nodes would destroy itself in a recursion as deep.
  std::vector<std::unique_ptr<PrefixNode>> nodes;
  for (auto& [salt, root] : roots_) nodes.push_back(std::move(root));
  while (!nodes.empty()) {
    const std::unique_ptr<PrefixNode> node = std::move(nodes.back());
    nodes.pop_back();
    for (auto& child : node->children) nodes.push_back(std::move(child));
    for (BlockHandle& page : node->pages) {
      if (page) LetGo(page);
    }
  }
  roots_.clear();
  index_.clear();
  first_blocks_.clear();
  candidates_.clear();
  evicted_.Clear();
}

}  // namespace adit::kv
