#include "kv/recent_hashes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "kv/token_hash.h"

namespace adit::kv {
namespace {

TEST(RecentHashes, ForgetsTheOldestBeyondItsCapacity) {
  RecentHashes hashes(3);
  EXPECT_TRUE(hashes.empty());
  for (const uint64_t hash : {1, 2, 3}) hashes.Add(hash);
  EXPECT_TRUE(hashes.Contains(1));
  hashes.Add(4);
  EXPECT_FALSE(hashes.Contains(1));
  hashes.Add(5);
  EXPECT_FALSE(hashes.Contains(2));
  EXPECT_TRUE(hashes.Contains(3) && hashes.Contains(4) && hashes.Contains(5));
  EXPECT_EQ(hashes.size(), 3u);
}

TEST(RecentHashes, CountsAHashOnce) {
  RecentHashes hashes(2);
  for (const uint64_t hash : {1, 2, 2, 2}) hashes.Add(hash);
  EXPECT_TRUE(hashes.Contains(1));
  EXPECT_EQ(hashes.size(), 2u);
}

TEST(RecentHashes, StartsAnewWhenCleared) {
  RecentHashes hashes(2);
  for (const uint64_t hash : {1, 2, 3}) hashes.Add(hash);
  hashes.Clear();
  EXPECT_TRUE(hashes.empty());
  EXPECT_FALSE(hashes.Contains(3));
  for (const uint64_t hash : {7, 8, 9}) hashes.Add(hash);
  EXPECT_FALSE(hashes.Contains(7));
  EXPECT_TRUE(hashes.Contains(8) && hashes.Contains(9));
}

// Salts and tokens are small numbers: all short paths over them have hashes of their own, chained or not.
TEST(TokenHash, TellsShortPathsOfSmallNumbersApart) {
  std::set<uint64_t> seen;
  size_t num_paths = 0;
  for (uint64_t salt = 0; salt < 8; ++salt) {
    for (int32_t a = 0; a < 16; ++a) {
      const uint64_t first = HashTokens(salt, std::vector<int32_t>{a});
      seen.insert(first);
      ++num_paths;
      for (int32_t b = 0; b < 16; ++b) {
        seen.insert(HashTokens(first, std::vector<int32_t>{b}));
        seen.insert(HashTokens(salt, std::vector<int32_t>{a, b}));
        num_paths += 2;
      }
    }
  }
  EXPECT_EQ(seen.size(), num_paths);
}

}  // namespace
}  // namespace adit::kv
