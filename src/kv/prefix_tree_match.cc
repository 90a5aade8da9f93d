// The queries of PrefixTree.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kv/prefix_node.h"
#include "kv/prefix_tree.h"

namespace adit::kv {
namespace {

// Children that are looked at for a partial block; more would make a match at a node of many children dear.
constexpr int kMaxSimilarChildren = 16;

int64_t CommonTokens(std::span<const int32_t> a, std::span<const int32_t> b) {
  const auto [end, other] = std::ranges::mismatch(a, b);
  return end - a.begin();
}

}  // namespace

const char* MissReasonName(MissReason reason) {
  switch (reason) {
    case MissReason::kNone:
      return "none";
    case MissReason::kEmpty:
      return "empty";
    case MissReason::kDiverged:
      return "diverged";
    case MissReason::kEvicted:
      return "evicted";
    case MissReason::kSaltedApart:
      return "salted_apart";
    case MissReason::kTooShort:
      return "too_short";
  }
  return "unknown";
}

PrefixMatch PrefixTree::Match(std::span<const int32_t> tokens, int64_t max_tokens, uint64_t salt) {
  tokens = tokens.first(std::min(tokens.size(), static_cast<size_t>(std::max<int64_t>(0, max_tokens))));
  Path path = Walk(tokens, salt);
  const int64_t stored_blocks = path.num_blocks;
  Cut(path, UsableBlocks(path));
  Refresh(path);

  PrefixMatch match{.num_tokens = path.num_blocks * block_size_};
  const Similar similar = FindSimilar(path, tokens.subspan(static_cast<size_t>(match.num_tokens)));
  SharePages(path, match);
  if (similar.source != nullptr) {
    match.partial_tokens = similar.source_tokens;
    for (int64_t group = 0; group < num_groups(); ++group) {
      match.partial.push_back(pool_.Share(similar.source->page(0, group)));
    }
  }
  SetMiss(tokens, path, stored_blocks, similar, match);

  ++stats_.queries;
  stats_.query_tokens += static_cast<int64_t>(tokens.size());
  stats_.hit_tokens += match.num_tokens;
  stats_.partial_tokens += match.partial_tokens;
  ++stats_.misses[static_cast<size_t>(match.reason)];
  return match;
}

int64_t PrefixTree::MatchLength(std::span<const int32_t> tokens, int64_t max_tokens, uint64_t salt) const {
  tokens = tokens.first(std::min(tokens.size(), static_cast<size_t>(std::max<int64_t>(0, max_tokens))));
  return UsableBlocks(Walk(tokens, salt)) * block_size_;
}

// The longest path in the tree that agrees with whole blocks of `tokens`.
PrefixTree::Path PrefixTree::Walk(std::span<const int32_t> tokens, uint64_t salt) const {
  Path path{.salt = salt};
  const auto found = roots_.find(salt);
  if (found == roots_.end()) return path;
  path.root = found->second.get();

  const PrefixNode* node = path.root;
  while (static_cast<int64_t>(tokens.size()) >= block_size_) {
    PrefixNode* child = FindChild(*node, Block(tokens, 0));
    if (child == nullptr) break;
    const int64_t num_blocks = CommonTokens(child->tokens, tokens) / block_size_;
    path.nodes.push_back(child);
    path.num_blocks += num_blocks;
    if (num_blocks < child->num_blocks()) break;
    tokens = tokens.subspan(child->tokens.size());
    node = child;
  }
  return path;
}

PrefixNode* PrefixTree::FindChild(const PrefixNode& parent, std::span<const int32_t> block) const {
  const auto [begin, end] = index_.equal_range(hash_(parent.end_hash(), block));
  const auto found = std::find_if(begin, end, [&](const NodeIndex::value_type& entry) {
    return entry.second->parent == &parent && std::ranges::equal(Block(entry.second->tokens, 0), block);
  });
  return found == end ? nullptr : found->second;
}

int64_t PrefixTree::UsableBlocks(const Path& path) const {
  if (!any_window_) return path.num_blocks;
  int64_t usable = 0;
  // For each group, where the unbroken run of pages that ends here begins.
  std::vector<int64_t> run_begins(windows_.size(), 0);
  for (const PrefixNode* node : path.nodes) {
    for (int64_t index = node->first_block; index < std::min(node->end_block(), path.num_blocks); ++index) {
      bool is_usable = true;
      for (int64_t group = 0; group < num_groups(); ++group) {
        int64_t& run_begin = run_begins[static_cast<size_t>(group)];
        if (!node->page(index - node->first_block, group)) run_begin = index + 1;
        is_usable &= run_begin <= FirstNeededBlock(group, index + 1);
      }
      if (is_usable) usable = index + 1;
    }
  }
  return usable;
}

int64_t PrefixTree::FirstNeededBlock(int64_t group, int64_t num_blocks) const {
  const int64_t window = windows_[static_cast<size_t>(group)];
  return window == 0 ? 0 : std::max<int64_t>(0, num_blocks * block_size_ - window + 1) / block_size_;
}

// What shares most tokens with `rest`, which follows the path.
PrefixTree::Similar PrefixTree::FindSimilar(const Path& path, std::span<const int32_t> rest) const {
  Similar similar;
  const PrefixNode* parent = path.nodes.empty() ? path.root : path.nodes.back();
  if (parent == nullptr) return similar;
  int num_seen = 0;
  for (const auto& child : parent->children) {
    if (++num_seen > kMaxSimilarChildren) break;
    const int64_t common = CommonTokens(Block(child->tokens, 0), rest);
    if (similar.closest == nullptr || common > similar.closest_tokens) {
      similar.closest = child.get();
      similar.closest_tokens = common;
    }
    const auto first_pages = std::span(child->pages).first(windows_.size());
    if (common > similar.source_tokens && std::ranges::all_of(first_pages, &BlockHandle::operator bool)) {
      similar.source = child.get();
      similar.source_tokens = common;
    }
  }
  // A block with all its pages that agreed as a whole would make a longer path usable.
  ADIT_DCHECK(similar.source_tokens < block_size_);
  return similar;
}

void PrefixTree::SharePages(const Path& path, PrefixMatch& match) {
  match.blocks.resize(windows_.size());
  for (int64_t group = 0; group < num_groups(); ++group) {
    std::vector<BlockHandle>& blocks = match.blocks[static_cast<size_t>(group)];
    blocks.resize(static_cast<size_t>(path.num_blocks));
    const int64_t first_needed = FirstNeededBlock(group, path.num_blocks);
    for (const PrefixNode* node : path.nodes) {
      for (int64_t i = std::max(node->first_block, first_needed); i < node->end_block(); ++i) {
        const BlockHandle& page = node->page(i - node->first_block, group);
        blocks[static_cast<size_t>(i)] = pool_.Share(page);
        times_.Reuse(page.id());
      }
    }
  }
}

// Says where and why the match of `tokens` ends, of which the tree has stored_blocks blocks, usable or not.
void PrefixTree::SetMiss(std::span<const int32_t> tokens, const Path& path, int64_t stored_blocks,
                         const Similar& similar, PrefixMatch& match) const {
  const auto num_tokens = static_cast<int64_t>(tokens.size());
  match.miss_position = match.num_tokens + match.partial_tokens;
  if (num_tokens > 0 && match.miss_position == num_tokens) {
    match.reason = MissReason::kNone;
    return;
  }
  if (num_tokens - match.num_tokens < block_size_) {
    match.reason = MissReason::kTooShort;
    return;
  }
  const std::span<const int32_t> next = Block(tokens, path.num_blocks);
  const uint64_t end_hash = path.nodes.empty() ? path.salt : path.nodes.back()->end_hash();
  // Looked up for every miss of a first block, so that the time taken does not depend on what others have stored.
  const bool salted_apart = path.num_blocks == 0 && StoredUnderAnotherSalt(path, next);
  if (stored_blocks > path.num_blocks || (!evicted_.empty() && evicted_.Contains(hash_(end_hash, next)))) {
    match.reason = MissReason::kEvicted;
  } else if (salted_apart) {
    match.reason = MissReason::kSaltedApart;
  } else if (path.root == nullptr) {
    match.reason = MissReason::kEmpty;
  } else if (similar.closest == nullptr) {
    match.reason = MissReason::kNone;
  } else {
    match.reason = MissReason::kDiverged;
    match.miss_position = match.num_tokens + similar.closest_tokens;
    match.stored_token = similar.closest->tokens[static_cast<size_t>(similar.closest_tokens)];
  }
}

bool PrefixTree::StoredUnderAnotherSalt(const Path& path, std::span<const int32_t> block) const {
  const auto [begin, end] = first_blocks_.equal_range(hash_(0, block));
  return std::any_of(begin, end, [&](const NodeIndex::value_type& entry) {
    return entry.second->parent != path.root && std::ranges::equal(Block(entry.second->tokens, 0), block);
  });
}

std::span<const int32_t> PrefixTree::Block(std::span<const int32_t> tokens, int64_t index) const {
  return tokens.subspan(static_cast<size_t>(index * block_size_), static_cast<size_t>(block_size_));
}

}  // namespace adit::kv
