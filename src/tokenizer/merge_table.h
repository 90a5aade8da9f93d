#ifndef ADIT_TOKENIZER_MERGE_TABLE_H_
#define ADIT_TOKENIZER_MERGE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizer/merge.h"

namespace adit::tokenizer {

// The merges of a byte-pair encoding: from a pair of token ids to what they become and how early. Open addressing with
// linear probing, sized once.
class MergeTable {
 public:
  // Room for `num_merges`.
  explicit MergeTable(size_t num_merges);

  // Keeps what is there if the pair is known. Ids are not negative.
  void Add(int32_t left, int32_t right, Merge merge);

  // Whether some merge joins this id with another.
  bool Involves(int32_t id) const;

  // The merge of the pair, or one with a negative id. A negative id in the pair has none.
  Merge Find(int32_t left, int32_t right) const;

 private:
  struct Slot {
    int32_t left = -1;
    int32_t right = -1;
    Merge merge;
  };

  size_t FindSlot(int32_t left, int32_t right) const;

  std::vector<Slot> slots_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_MERGE_TABLE_H_
