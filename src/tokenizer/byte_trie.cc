#include "tokenizer/byte_trie.h"

#include <algorithm>

namespace adit::tokenizer {
namespace {

constexpr size_t kBlock = 256;

// Texts of sorted tokens that agree in their first `depth` bytes, which lead to `node`.
struct Subtree {
  size_t begin;
  size_t end;
  size_t depth;
  uint32_t node;
};

}  // namespace

ByteTrie::ByteTrie(std::span<const TextToken> tokens) {
  std::vector<TextToken> sorted(tokens.begin(), tokens.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TextToken& a, const TextToken& b) { return a.text < b.text; });
  AddBlock();
  open_.clear();  // no node has children in the block of the root: base 0 means that there are none
  std::vector<Subtree> stack = {{0, sorted.size(), 0, 0}};
  std::vector<unsigned char> labels;
  std::vector<size_t> begins;
  while (!stack.empty()) {
    Subtree tree = stack.back();
    stack.pop_back();
    for (; tree.begin < tree.end && sorted[tree.begin].text.size() == tree.depth; ++tree.begin) {
      if (tree.depth > 0 && units_[tree.node].token < 0) units_[tree.node].token = sorted[tree.begin].id;
    }
    labels.clear();
    begins.clear();
    for (size_t i = tree.begin; i < tree.end; ++i) {
      const auto label = static_cast<unsigned char>(sorted[i].text[tree.depth]);
      if (!labels.empty() && labels.back() == label) continue;
      labels.push_back(label);
      begins.push_back(i);
    }
    if (labels.empty()) continue;
    begins.push_back(tree.end);
    const uint32_t base = FindBase(labels);
    units_[tree.node].base = base;
    for (size_t i = 0; i < labels.size(); ++i) {
      const uint32_t child = base ^ labels[i];
      units_[child].parent = tree.node;
      ++num_used_[child / kBlock];
      stack.push_back({begins[i], begins[i + 1], tree.depth + 1, child});
    }
  }
}

void ByteTrie::AddBlock() {
  open_.push_back(static_cast<uint32_t>(num_used_.size()));
  num_used_.push_back(0);
  units_.resize(units_.size() + kBlock);
}

// A base from which all labels lead to free units. Few blocks are tried, so building takes time linear in the nodes.
uint32_t ByteTrie::FindBase(std::span<const unsigned char> labels) {
  constexpr size_t kMaxTried = 8;
  constexpr size_t kFull = 244;
  std::erase_if(open_, [this](uint32_t block) { return num_used_[block] >= kFull; });
  if (open_.size() > kMaxTried) open_.erase(open_.begin(), open_.end() - kMaxTried);
  for (const uint32_t block : open_) {
    if (num_used_[block] + labels.size() > kBlock) continue;
    for (uint32_t low = 0; low < kBlock; ++low) {
      const uint32_t base = block * kBlock + low;
      const bool fits = std::all_of(labels.begin(), labels.end(),
                                    [&](unsigned char label) { return units_[base ^ label].parent == kFree; });
      if (fits) return base;
    }
  }
  AddBlock();
  return static_cast<uint32_t>(num_used_.size() - 1) * kBlock;
}

}  // namespace adit::tokenizer
