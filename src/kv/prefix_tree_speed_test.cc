#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kv/prefix_tree.h"

namespace adit::kv {
namespace {

constexpr int64_t kPrefixes = 10'000;
constexpr int64_t kPromptTokens = 10'000;

// 10,000 stored conversations: one of 10,000 tokens, some that leave it at every 160th, and all others in ten groups
// that share 512 tokens. The limit is that of the design; it holds for an optimised build, of which the
// quickest of many calls is taken, since the machine may be busy.
TEST(PrefixTreeSpeed, APromptOf10000TokensIsFoundAmong10000PrefixesIn200Microseconds) {
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "not an optimised build";
#endif
  BlockPool pool(500'000);
  PrefixTree tree(pool, {});
  const auto store = [&](std::vector<int32_t> tokens) {
    const auto count = static_cast<int64_t>(tokens.size());
    std::vector<BlockTable> tables;
    tables.emplace_back(pool, tree.block_size(), count);
    ASSERT_TRUE(tables.front().Reserve(count));
    tree.Insert(tokens, count, /*salt=*/0, tables);
  };
  std::vector<int32_t> prompt(kPromptTokens);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i % 1000);
  store(prompt);
  for (int64_t i = 1; i < kPrefixes; ++i) {
    std::vector<int32_t> tokens;
    if (i <= kPromptTokens / 160) {
      tokens.assign(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(i * 160 - 80));
    } else {
      tokens.assign(512, static_cast<int32_t>(2000 + i % 10));
    }
    for (int j = 0; j < 100; ++j) tokens.push_back(static_cast<int32_t>(5000 + i));
    store(std::move(tokens));
  }
  EXPECT_GE(tree.num_nodes(), kPrefixes);

  double quickest_us = 1e9;
  for (int call = 0; call < 50; ++call) {
    const auto start = std::chrono::steady_clock::now();
    const PrefixMatch match = tree.Match(prompt, kPromptTokens - 1, /*salt=*/0);
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    ASSERT_EQ(match.num_tokens, (kPromptTokens - 1) / 16 * 16);
    quickest_us = std::min(quickest_us, spent.count());
  }
  RecordProperty("microseconds", std::to_string(quickest_us));
  EXPECT_LT(quickest_us, 200.0);
}

}  // namespace
}  // namespace adit::kv
