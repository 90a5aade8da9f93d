#include "kv/prefix_tree.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "kv/prefix_node.h"

namespace adit::kv {
namespace {

constexpr size_t kRememberedEvictions = 65'536;

}  // namespace

PrefixTree::PrefixTree(BlockPool& pool, PrefixTreeOptions options)
    : pool_(pool),
      block_size_(options.block_size),
      windows_(std::move(options.windows)),
      any_window_(std::ranges::any_of(windows_, [](int64_t window) { return window > 0; })),
      hash_(options.hash),
      times_(pool.num_blocks()),
      locations_(static_cast<size_t>(pool.num_blocks())),
      evicted_(kRememberedEvictions) {
  ADIT_CHECK(block_size_ >= 1 && !windows_.empty() && hash_ != nullptr);
  ADIT_CHECK(std::ranges::all_of(windows_, [](int64_t window) { return window >= 0; }));
}

PrefixTree::~PrefixTree() { Clear(); }

void PrefixTree::Insert(std::span<const int32_t> tokens, int64_t num_tokens, uint64_t salt,
                        std::span<BlockTable> tables) {
  ADIT_CHECK(num_tokens >= 0 && num_tokens <= static_cast<int64_t>(tokens.size()));
  ADIT_CHECK(static_cast<int64_t>(tables.size()) == num_groups());
  int64_t num_blocks = num_tokens / block_size_;
  for (const BlockTable& table : tables) {
    ADIT_CHECK(table.block_size() == block_size_ && table.num_blocks() >= num_blocks);
  }
  tokens = tokens.first(static_cast<size_t>(num_blocks * block_size_));
  Path path = Walk(tokens, salt);
  Cut(path, path.num_blocks);
  for (PrefixNode* node : path.nodes) MergePages(*node, tables);

  // Blocks behind all windows have no pages to store; at the end of a path they would be of no use either.
  const auto has_page = [&](const BlockTable& table) { return static_cast<bool>(table.handle(num_blocks - 1)); };
  while (num_blocks > path.num_blocks && std::ranges::none_of(tables, has_page)) --num_blocks;
  if (num_blocks > path.num_blocks) {
    MergePages(*AddNode(path, tokens.first(static_cast<size_t>(num_blocks * block_size_))), tables);
  }
  Refresh(path);
}

// Shortens the path to its first num_blocks blocks, splitting the node that they end in.
void PrefixTree::Cut(Path& path, int64_t num_blocks) {
  while (!path.nodes.empty() && path.nodes.back()->first_block >= num_blocks) path.nodes.pop_back();
  if (!path.nodes.empty() && path.nodes.back()->end_block() > num_blocks) {
    Split(path.nodes.back(), num_blocks - path.nodes.back()->first_block);
  }
  path.num_blocks = num_blocks;
}

// Leaves the node its first num_blocks blocks; the others, and the children, go to a new node that is its only child.
// The order of use, and what is a candidate, stay as they are.
void PrefixTree::Split(PrefixNode* node, int64_t num_blocks) {
  const auto kept = static_cast<std::ptrdiff_t>(num_blocks);
  auto owned = std::make_unique<PrefixNode>(node->salt, num_groups());
  PrefixNode* tail = owned.get();
  tail->parent = node;
  tail->first_block = node->first_block + num_blocks;
  tail->last_used = node->last_used;
  tail->children = std::move(node->children);
  for (const auto& child : tail->children) child->parent = tail;

  const auto move_tail = [](auto& from, auto& to, std::ptrdiff_t begin) {
    to.assign(std::make_move_iterator(from.begin() + begin), std::make_move_iterator(from.end()));
    from.resize(static_cast<size_t>(begin));
  };
  move_tail(node->tokens, tail->tokens, kept * block_size_);
  move_tail(node->hashes, tail->hashes, kept);
  move_tail(node->pages, tail->pages, kept * num_groups());
  for (const BlockHandle& page : tail->pages) {
    if (page) locations_[static_cast<size_t>(page.id())].node = tail;
  }

  if (std::exchange(node->is_candidate, false)) {
    tail->is_candidate = true;
    candidates_[tail->last_used] = tail;
  }
  node->children.clear();
  node->children.push_front(std::move(owned));
  tail->place = node->children.begin();
  index_.emplace(tail->hashes.front(), tail);
}

// Marks the nodes of the path as used now, and as the most recently used of their siblings.
void PrefixTree::Refresh(const Path& path) {
  ++clock_;
  for (PrefixNode* node : path.nodes) {
    const bool was_candidate = node->is_candidate;
    if (was_candidate) RemoveCandidate(node);
    node->last_used = clock_;
    if (was_candidate) AddCandidate(node);
    PrefixNode::Children& siblings = node->parent->children;
    siblings.splice(siblings.begin(), siblings, node->place);
  }
}

// Adds to the path a new node that makes its tokens `tokens`; its blocks have no pages yet.
PrefixNode* PrefixTree::AddNode(Path& path, std::span<const int32_t> tokens) {
  if (path.root == nullptr) {
    std::unique_ptr<PrefixNode>& root = roots_[path.salt];
    root = std::make_unique<PrefixNode>(path.salt, num_groups());
    path.root = root.get();
  }
  PrefixNode* parent = path.nodes.empty() ? path.root : path.nodes.back();
  if (parent->is_candidate) RemoveCandidate(parent);

  parent->children.push_front(std::make_unique<PrefixNode>(path.salt, num_groups()));
  PrefixNode* node = parent->children.front().get();
  node->parent = parent;
  node->place = parent->children.begin();
  node->first_block = path.num_blocks;
  const std::span<const int32_t> added = tokens.subspan(static_cast<size_t>(path.num_blocks * block_size_));
  node->tokens.assign(added.begin(), added.end());
  const int64_t num_blocks = static_cast<int64_t>(added.size()) / block_size_;
  node->hashes.reserve(static_cast<size_t>(num_blocks));
  uint64_t hash = parent->end_hash();
  for (int64_t i = 0; i < num_blocks; ++i) node->hashes.push_back(hash = hash_(hash, Block(added, i)));
  node->pages.resize(static_cast<size_t>(num_blocks * num_groups()));

  index_.emplace(node->hashes.front(), node);
  if (parent->is_root()) first_blocks_.emplace(hash_(0, Block(added, 0)), node);
  node->last_used = ++clock_;
  AddCandidate(node);
  path.nodes.push_back(node);
  path.num_blocks += num_blocks;
  return node;
}

// Makes the node and the tables hold the same pages where they can; see Insert.
void PrefixTree::MergePages(PrefixNode& node, std::span<BlockTable> tables) {
  for (int64_t block = 0; block < node.num_blocks(); ++block) {
    const int64_t index = node.first_block + block;
    for (int64_t group = 0; group < num_groups(); ++group) {
      BlockTable& table = tables[static_cast<size_t>(group)];
      const BlockHandle& offered = table.handle(index);
      BlockHandle& page = node.page(block, group);
      if (!offered) {
        ADIT_CHECK(windows_[static_cast<size_t>(group)] > 0);
      } else if (!page) {
        page = pool_.Share(offered);
        pool_.MarkCached(page.id());
        locations_[static_cast<size_t>(page.id())] = {.node = &node, .block = index, .group = group};
        times_.Come(page.id());
        ++num_blocks_;
        ++stats_.inserted_blocks;
      } else {
        times_.EndUse(page.id());
        if (page.id() != offered.id()) table.Replace(index, pool_.Share(page));
      }
    }
  }
}

}  // namespace adit::kv
