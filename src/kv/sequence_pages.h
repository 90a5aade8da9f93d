#ifndef ADIT_KV_SEQUENCE_PAGES_H_
#define ADIT_KV_SEQUENCE_PAGES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kv/block_table.h"
#include "kv/prefix_tree.h"

namespace adit::kv {

// How sequences of one model use pages: tokens to a page, and how far the layers of each group look back (0: to the
// start of the sequence).
struct PageGroups {
  int64_t block_size = 16;
  std::vector<int64_t> windows = std::vector<int64_t>(1);  // [num_groups]

  // The most pages that a sequence of num_tokens holds at once when it runs in steps of at most max_step tokens.
  int64_t MostPages(int64_t num_tokens, int64_t max_step) const;
};

// A copy of one page's bytes that the owner of the memory has to make. `from` may have been let go and taken again
// since it was noted: copies are made in the order in which they were noted, before anything is computed into pages.
struct BlockCopy {
  int32_t from = 0;
  int32_t to = 0;
};

// The pages of one sequence: a block table for each group. Move-only; one thread at a time; the pool outlives it.
class SequencePages {
 public:
  // Of no pool, holding nothing: only to be assigned to, or truncated to nothing.
  SequencePages() = default;
  // Room is set aside for the ids of `max_tokens` tokens: growing up to them allocates no memory.
  SequencePages(BlockPool& pool, const PageGroups& groups, int64_t max_tokens = 0);

  // Takes pages until every group holds `num_tokens` tokens. False when too few are free: then nothing has changed.
  [[nodiscard]] bool Reserve(int64_t num_tokens);
  // Pages that Reserve(num_tokens) would take.
  int64_t PagesToReserve(int64_t num_tokens) const;

  // Gives back what the first `num_tokens` tokens do not need.
  void Truncate(int64_t num_tokens);
  // Gives back, in groups with a window, the pages that no query at `position` or later sees.
  void ReleaseBehind(int64_t position);

  // Makes the pages in which `position` lies this sequence's own: where others share one, takes another page in its
  // place and notes the copy to be made. False when the pool has too few; then nothing has changed.
  [[nodiscard]] bool MakeWritable(int64_t position, std::vector<BlockCopy>& copies);
  // Pages that MakeWritable(position) would take.
  int64_t PagesToMakeWritable(int64_t position) const;

  // Begins an empty sequence with the whole pages of a match. Where the match goes on inside a page, takes a page for
  // that too if the pool has one and notes the copy. Returns the tokens that are there now.
  int64_t Adopt(PrefixMatch match, std::vector<BlockCopy>& copies);

  // A sequence that shares all pages, with room for the ids of `max_tokens` tokens.
  SequencePages Fork(int64_t max_tokens = 0) const;

  // [num_groups], each with the ids of its pages in order; -1 where one was released. Valid until the next change.
  std::span<const std::span<const int32_t>> block_tables() const { return views_; }
  std::span<BlockTable> tables() { return tables_; }
  // Pages held, those that others share included.
  int64_t num_pages() const;
  // Places of those pages that hold one of the first `num_tokens` tokens, all groups together.
  int64_t WrittenTokens(int64_t num_tokens) const;

 private:
  void Refresh();

  BlockPool* pool_ = nullptr;
  std::vector<int64_t> windows_;                 // [num_groups]
  std::vector<BlockTable> tables_;               // [num_groups]
  std::vector<std::span<const int32_t>> views_;  // [num_groups], of tables_
};

}  // namespace adit::kv

#endif  // ADIT_KV_SEQUENCE_PAGES_H_
