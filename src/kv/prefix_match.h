#ifndef ADIT_KV_PREFIX_MATCH_H_
#define ADIT_KV_PREFIX_MATCH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "kv/block_pool.h"

namespace adit::kv {

// Why a match is not longer.
enum class MissReason : uint8_t {
  kNone,         // no miss: all the tokens asked for, or all that was ever stored along their path
  kEmpty,        // nothing is stored under this salt
  kDiverged,     // the tokens differ from all that is stored
  kEvicted,      // the next block was stored, but it, or a page that a window needs, had to make room
  kSaltedApart,  // the first block is stored under another salt, and not under this one
  kTooShort,     // what is left is less than a block
};
inline constexpr int kNumMissReasons = 6;

// "none", "empty", "diverged", "evicted", "salted_apart" or "too_short".
const char* MissReasonName(MissReason reason);

// The answer of PrefixTree::Match. Its handles are references of their own: while they live the pages stay.
struct PrefixMatch {
  // Tokens whose keys and values are stored, in whole blocks. Of use without the partial block too.
  int64_t num_tokens = 0;
  // [num_groups][num_tokens / block_size]. A windowed group has empty handles where a query at position num_tokens no
  // longer sees.
  std::vector<std::vector<BlockHandle>> blocks;

  // A stored block whose first tokens, 1..block_size-1 of them, are those that follow num_tokens; 0: there is none.
  // Its pages are others' too: copy them, then let the handles go.
  int64_t partial_tokens = 0;
  std::vector<BlockHandle> partial;  // [num_groups], none empty; of size 0 when partial_tokens is 0

  MissReason reason = MissReason::kNone;
  // The first position that was not found: for kDiverged where the tokens part from those of the most similar block
  // looked at, else num_tokens + partial_tokens.
  int64_t miss_position = 0;
  int32_t stored_token = -1;  // kDiverged: what that block holds at miss_position
};

// Counts since the tree was made.
struct PrefixTreeStats {
  int64_t queries = 0;                            // calls of Match
  int64_t query_tokens = 0;                       // tokens they asked for
  int64_t hit_tokens = 0;                         // of those, found in whole blocks
  int64_t partial_tokens = 0;                     // of those, found in partial blocks
  std::array<int64_t, kNumMissReasons> misses{};  // [MissReason], queries by reason
  int64_t inserted_blocks = 0;                    // pages taken in
  int64_t evicted_blocks = 0;                     // pages taken out by Evict
};

}  // namespace adit::kv

#endif  // ADIT_KV_PREFIX_MATCH_H_
