#ifndef ADIT_NN_FORWARD_BATCH_H_
#define ADIT_NN_FORWARD_BATCH_H_

#include <cstdint>
#include <limits>
#include <span>

namespace adit::nn {

// The rows of a batch that belong to one sequence: consecutive tokens at consecutive positions.
struct SequenceRows {
  int64_t row_begin = 0;
  int64_t num_rows = 0;
  int64_t first_position = 0;  // of row_begin; the cache already holds all positions before it
  // [num_groups] of KvLayout, each covering positions 0 .. first_position + num_rows - 1. Entries of a group with a
  // window may be anything where no query of this batch looks back to.
  std::span<const std::span<const int32_t>> block_tables;
  int64_t second_text = std::numeric_limits<int64_t>::max();  // the position that it begins at, in a pair of texts
  bool long_rope = false;  // turn by the frequencies for long sequences, where a rope has them (RopeConfig)
};

// What one forward pass computes: a ragged batch of tokens of several sequences, prompts and decodes alike.
struct ForwardBatch {
  std::span<const int32_t> tokens;          // [num_tokens], ids inside the vocabulary
  std::span<const SequenceRows> sequences;  // in the order of their rows; together they cover all rows
  std::span<const int64_t> logit_rows;      // rows whose logits, or hidden states, are wanted, increasing
};

}  // namespace adit::nn

#endif  // ADIT_NN_FORWARD_BATCH_H_
