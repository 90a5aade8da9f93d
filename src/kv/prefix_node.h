#ifndef ADIT_KV_PREFIX_NODE_H_
#define ADIT_KV_PREFIX_NODE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "kv/block_pool.h"

namespace adit::kv {

// A node of a PrefixTree and the run of whole blocks that leads to it; see there. A root has neither parent nor blocks.
struct PrefixNode {
  using Children = std::list<std::unique_ptr<PrefixNode>>;

  explicit PrefixNode(uint64_t node_salt, int64_t pages_per_block) : salt(node_salt), num_groups(pages_per_block) {}

  PrefixNode* parent = nullptr;
  Children children;         // most recently used first
  Children::iterator place;  // in parent->children
  uint64_t salt;
  int64_t num_groups;
  int64_t first_block = 0;         // blocks of the path above
  std::vector<int32_t> tokens;     // [num_blocks * block_size]
  std::vector<uint64_t> hashes;    // [num_blocks], of the salt and the path through each block
  std::vector<BlockHandle> pages;  // [num_blocks, num_groups]
  uint64_t last_used = 0;
  bool is_candidate = false;  // a leaf in PrefixTree::candidates_

  bool is_root() const { return parent == nullptr; }
  bool is_leaf() const { return children.empty(); }
  int64_t num_blocks() const { return static_cast<int64_t>(hashes.size()); }
  int64_t end_block() const { return first_block + num_blocks(); }
  uint64_t end_hash() const { return hashes.empty() ? salt : hashes.back(); }

  BlockHandle& page(int64_t block, int64_t group) { return pages[PageIndex(block, group)]; }
  const BlockHandle& page(int64_t block, int64_t group) const { return pages[PageIndex(block, group)]; }

 private:
  size_t PageIndex(int64_t block, int64_t group) const { return static_cast<size_t>(block * num_groups + group); }
};

}  // namespace adit::kv

#endif  // ADIT_KV_PREFIX_NODE_H_
