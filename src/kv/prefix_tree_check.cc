// What must hold of a PrefixTree between calls; see its header.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "kv/prefix_node.h"
#include "kv/prefix_tree.h"

namespace adit::kv {
namespace {

// Whether `index` has just one entry of the node under the key.
bool HasEntry(const std::unordered_multimap<uint64_t, PrefixNode*>& index, uint64_t key, const PrefixNode* node) {
  const auto [begin, end] = index.equal_range(key);
  return std::count_if(begin, end, [&](const auto& entry) { return entry.second == node; }) == 1;
}

}  // namespace

void PrefixTree::CheckInvariants() const {
  int64_t num_nodes_seen = 0, num_first_blocks = 0, num_candidates = 0, num_pages = 0;
  std::vector<const PrefixNode*> nodes;
  for (const auto& [salt, root] : roots_) {
    ADIT_CHECK(root->is_root() && root->salt == salt && root->num_blocks() == 0 && !root->is_leaf());
    nodes.push_back(root.get());
  }
  while (!nodes.empty()) {
    const PrefixNode& node = *nodes.back();
    nodes.pop_back();
    for (auto child = node.children.begin(); child != node.children.end(); ++child) {
      ADIT_CHECK((*child)->parent == &node && (*child)->salt == node.salt && (*child)->place == child);
      ADIT_CHECK((*child)->first_block == node.end_block());
      // A sibling of the same first block would be found in its stead.
      ADIT_CHECK(FindChild(node, Block((*child)->tokens, 0)) == child->get());
      nodes.push_back(child->get());
    }
    if (node.is_root()) continue;

    ++num_nodes_seen;
    num_candidates += node.is_candidate ? 1 : 0;
    num_first_blocks += node.parent->is_root() ? 1 : 0;
    ADIT_CHECK(node.last_used <= clock_ && (node.parent->is_root() || node.last_used <= node.parent->last_used));
    ADIT_CHECK(!node.is_candidate || node.is_leaf());
    if (node.is_candidate) ADIT_CHECK(candidates_.at(node.last_used) == &node);
    num_pages += CheckBlocks(node);
  }
  ADIT_CHECK(num_nodes_seen == num_nodes());
  ADIT_CHECK(num_first_blocks == static_cast<int64_t>(first_blocks_.size()));
  ADIT_CHECK(num_candidates == static_cast<int64_t>(candidates_.size()));
  ADIT_CHECK(num_pages == num_blocks_);
  int64_t num_cached = 0;
  for (int32_t id = 0; id < pool_.num_blocks(); ++id) num_cached += pool_.is_cached(id) ? 1 : 0;
  ADIT_CHECK(num_cached == num_blocks_);
}

// Checks the blocks of one node and their places in the indices; returns the number of pages.
int64_t PrefixTree::CheckBlocks(const PrefixNode& node) const {
  ADIT_CHECK(node.num_blocks() >= 1 && node.num_groups == num_groups());
  ADIT_CHECK(static_cast<int64_t>(node.tokens.size()) == node.num_blocks() * block_size_);
  ADIT_CHECK(static_cast<int64_t>(node.pages.size()) == node.num_blocks() * num_groups());
  ADIT_CHECK(HasEntry(index_, node.hashes.front(), &node));
  if (node.parent->is_root()) ADIT_CHECK(HasEntry(first_blocks_, hash_(0, Block(node.tokens, 0)), &node));

  int64_t num_pages = 0;
  int64_t pages_of_last = 0;
  uint64_t hash = node.parent->end_hash();
  for (int64_t block = 0; block < node.num_blocks(); ++block) {
    hash = hash_(hash, Block(node.tokens, block));
    ADIT_CHECK(hash == node.hashes[static_cast<size_t>(block)]);
    pages_of_last = 0;
    for (int64_t group = 0; group < num_groups(); ++group) {
      const BlockHandle& page = node.page(block, group);
      if (!page) {
        ADIT_CHECK(windows_[static_cast<size_t>(group)] > 0);
        continue;
      }
      const Location& location = locations_[static_cast<size_t>(page.id())];
      ADIT_CHECK(location.node == &node && location.block == node.first_block + block && location.group == group);
      ADIT_CHECK(pool_.is_cached(page.id()));
      ++pages_of_last;
    }
    num_pages += pages_of_last;
  }
  ADIT_CHECK(pages_of_last > 0 || !node.is_leaf());
  return num_pages;
}

}  // namespace adit::kv
