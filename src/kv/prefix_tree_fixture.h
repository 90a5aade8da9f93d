#ifndef ADIT_KV_PREFIX_TREE_FIXTURE_H_
#define ADIT_KV_PREFIX_TREE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "kv/block_pool.h"
#include "kv/block_table.h"
#include "kv/prefix_tree.h"

namespace adit::kv {

using Tokens = std::vector<int32_t>;

// For tests: a tree on a pool, and sequences that come and go.
class PrefixTreeTest : public testing::Test {
 protected:
  static constexpr int64_t kBlockSize = 4;

  static PrefixTreeOptions Options(std::vector<int64_t> windows) {
    return {.block_size = kBlockSize, .windows = std::move(windows)};
  }

  // The tables of a sequence that has computed `num_tokens` tokens on its own.
  std::vector<BlockTable> Tables(PrefixTree& tree, int64_t num_tokens) {
    std::vector<BlockTable> tables;
    for (int64_t group = 0; group < tree.num_groups(); ++group) {
      EXPECT_TRUE(tables.emplace_back(pool_, kBlockSize).Reserve(num_tokens));
    }
    return tables;
  }
  // Stores all of `tokens`, for a sequence that runs on with the tables returned.
  std::vector<BlockTable> Store(PrefixTree& tree, const Tokens& tokens, uint64_t salt = 0) {
    std::vector<BlockTable> tables = Tables(tree, std::ssize(tokens));
    tree.Insert(tokens, std::ssize(tokens), salt, tables);
    return tables;
  }
  static PrefixMatch Match(PrefixTree& tree, const Tokens& tokens, uint64_t salt = 0) {
    return tree.Match(tokens, std::ssize(tokens), salt);
  }
  static int64_t Length(const PrefixTree& tree, const Tokens& tokens, uint64_t salt = 0) {
    return tree.MatchLength(tokens, std::ssize(tokens), salt);
  }
  static std::vector<int32_t> Ids(const std::vector<BlockHandle>& blocks) {
    std::vector<int32_t> ids;
    for (const BlockHandle& block : blocks) ids.push_back(block ? block.id() : -1);
    return ids;
  }

  BlockPool pool_{64};
  PrefixTree tree_{pool_, Options({0})};
};

inline const Tokens kTen = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
inline const Tokens kTwelve = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

}  // namespace adit::kv

#endif  // ADIT_KV_PREFIX_TREE_FIXTURE_H_
