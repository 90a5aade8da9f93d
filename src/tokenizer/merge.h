#ifndef ADIT_TOKENIZER_MERGE_H_
#define ADIT_TOKENIZER_MERGE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace adit::tokenizer {

// What two neighbouring symbols become. Lower ranks are applied first.
struct Merge {
  uint32_t rank = 0;
  int32_t id = -1;  // negative: the two do not merge
};

// A stretch of a word that stands for one token, or for none (id -1). Positions are bytes within the word.
struct MergeSymbol {
  uint32_t begin = 0;
  uint32_t length = 0;  // 0: merged into a symbol on its left
  int32_t id = -1;
};

// Byte-pair encoding of one word (Sennrich et al. 2016): of all neighbours that merge, those of the lowest rank do, the
// leftmost first, until none do. Short words are searched for their lowest rank each time. Long ones take O(n log n): a
// heap of candidates over a linked list of symbols; a candidate whose symbols have changed since is dropped when it
// comes up. Kept between words for its memory. Not thread-safe.
class Merger {
 public:
  // Removes all symbols.
  void Clear() { symbols_.clear(); }
  // Symbols of the word, left to right and without gaps; a word has fewer than 2^31 bytes.
  void Add(MergeSymbol symbol) { symbols_.push_back(symbol); }

  // The symbol added last, or null.
  MergeSymbol* last() { return symbols_.empty() ? nullptr : &symbols_.back(); }

  // Merges the symbols. find_merge(left, right) gives the Merge of two neighbouring MergeSymbols; it may depend on
  // their bytes and ids only.
  template <typename FindMerge>
  void Run(const FindMerge& find_merge) {
    // Up to here the search is faster than the heap (measured on English and Chinese, Zen 3).
    constexpr size_t kMaxSearched = 32;
    if (symbols_.size() <= kMaxSearched) return RunSearch(find_merge);
    const auto n = static_cast<uint32_t>(symbols_.size());
    heap_.clear();
    previous_.resize(n);
    next_.resize(n);
    for (uint32_t i = 0; i < n; ++i) {
      previous_[i] = i - 1;
      next_[i] = i + 1;
      if (i > 0) AddCandidate(i - 1, i, find_merge);
    }
    std::make_heap(heap_.begin(), heap_.end(), LaterFirst);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), LaterFirst);
      const Candidate candidate = heap_.back();
      heap_.pop_back();
      Apply(candidate, n, find_merge);
    }
  }

  // Calls emit(symbol) for each symbol that is left, in order.
  template <typename Emit>
  void ForEach(const Emit& emit) const {
    for (const MergeSymbol& symbol : symbols_) {
      if (symbol.length > 0) emit(symbol);
    }
  }

 private:
  struct Candidate {
    uint64_t order;  // rank, then index of the left symbol
    uint32_t right;
    uint32_t length;  // of both together when this was added
    int32_t id;

    uint32_t left() const { return static_cast<uint32_t>(order); }
  };

  static bool LaterFirst(const Candidate& a, const Candidate& b) { return a.order > b.order; }

  // Merges in place: symbols_ shrinks, merges_[i] is what symbols i and i + 1 become.
  template <typename FindMerge>
  void RunSearch(const FindMerge& find_merge) {
    merges_.clear();
    for (size_t i = 0; i + 1 < symbols_.size(); ++i) merges_.push_back(find_merge(symbols_[i], symbols_[i + 1]));
    while (true) {
      size_t best = merges_.size();
      uint32_t best_rank = 0;
      for (size_t i = 0; i < merges_.size(); ++i) {
        if (merges_[i].id < 0 || (best < merges_.size() && merges_[i].rank >= best_rank)) continue;
        best = i;
        best_rank = merges_[i].rank;
      }
      if (best == merges_.size()) return;
      symbols_[best].length += symbols_[best + 1].length;
      symbols_[best].id = merges_[best].id;
      symbols_.erase(symbols_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      merges_.erase(merges_.begin() + static_cast<std::ptrdiff_t>(best));
      if (best < merges_.size()) merges_[best] = find_merge(symbols_[best], symbols_[best + 1]);
      if (best > 0) merges_[best - 1] = find_merge(symbols_[best - 1], symbols_[best]);
    }
  }

  template <typename FindMerge>
  bool AddCandidate(uint32_t left, uint32_t right, const FindMerge& find_merge) {
    const Merge merge = find_merge(symbols_[left], symbols_[right]);
    if (merge.id < 0) return false;
    heap_.push_back(
        {uint64_t{merge.rank} << 32 | left, right, symbols_[left].length + symbols_[right].length, merge.id});
    return true;
  }

  template <typename FindMerge>
  void Apply(const Candidate& candidate, uint32_t num_symbols, const FindMerge& find_merge) {
    MergeSymbol& left = symbols_[candidate.left()];
    MergeSymbol& right = symbols_[candidate.right];
    if (left.length == 0 || right.length == 0 || left.length + right.length != candidate.length) return;
    left.length = candidate.length;
    left.id = candidate.id;
    right.length = 0;
    const uint32_t next = next_[candidate.right];
    next_[candidate.left()] = next;
    if (next < num_symbols) {
      previous_[next] = candidate.left();
      if (AddCandidate(candidate.left(), next, find_merge)) std::push_heap(heap_.begin(), heap_.end(), LaterFirst);
    }
    const uint32_t previous = previous_[candidate.left()];
    if (previous < num_symbols && AddCandidate(previous, candidate.left(), find_merge)) {
      std::push_heap(heap_.begin(), heap_.end(), LaterFirst);
    }
  }

  std::vector<MergeSymbol> symbols_;
  std::vector<uint32_t> previous_;  // of each symbol that is left; out of range at the ends
  std::vector<uint32_t> next_;
  std::vector<Candidate> heap_;
  std::vector<Merge> merges_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_MERGE_H_
