// The prefix tree at the size of a busy server: 10,000 prompts of 10,000 tokens, in blocks of 16. Their pages are
// arithmetic: no memory stands behind them.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "base/check.h"
#include "kv/prefix_tree.h"

namespace adit::bench {
namespace {

using kv::BlockHandle;
using kv::BlockPool;
using kv::BlockTable;
using kv::PrefixTree;

constexpr int64_t kBlockSize = 16;
constexpr int kNumPrompts = 10'000;
constexpr size_t kPromptTokens = 10'000;
constexpr int kFamilies = 100;           // prompts of a family begin alike
constexpr size_t kSharedTokens = 9'000;  // a little more or less of them
constexpr int32_t kVocabSize = 128'000;

// Prompts in families: a long system prompt and history, then a part of their own; within a family they part at many
// different places.
class Prompts {
 public:
  Prompts() {
    for (int i = 0; i < kFamilies; ++i) families_.push_back(RandomTokens(kPromptTokens));
  }

  // Equal seeds give equal prompts.
  std::vector<int32_t> Make(uint32_t seed) const {
    std::mt19937 rng(seed);
    std::vector<int32_t> tokens = families_[seed % kFamilies];
    for (size_t i = kSharedTokens - rng() % 4'000; i < tokens.size(); ++i) tokens[i] = Token(rng);
    return tokens;
  }

 private:
  static int32_t Token(std::mt19937& rng) { return static_cast<int32_t>(rng() % kVocabSize); }
  std::vector<int32_t> RandomTokens(size_t count) {
    std::vector<int32_t> tokens(count);
    for (int32_t& token : tokens) token = Token(rng_);
    return tokens;
  }

  std::mt19937 rng_{1};
  std::vector<std::vector<int32_t>> families_;
};

struct Filled {
  explicit Filled(const std::vector<int64_t>& windows)
      : pool(static_cast<int32_t>(windows.size()) * kNumPrompts * 300),
        tree(std::make_unique<PrefixTree>(pool, kv::PrefixTreeOptions{.block_size = kBlockSize, .windows = windows})) {
    for (uint32_t seed = 0; seed < kNumPrompts; ++seed) {
      const std::vector<int32_t> tokens = prompts.Make(seed);
      kv::PrefixMatch match = tree->Match(tokens, std::ssize(tokens) - 1, 0);
      std::vector<BlockTable> tables;
      for (auto& blocks : match.blocks) {
        BlockTable& table = tables.emplace_back(pool, kBlockSize, std::ssize(tokens));
        for (BlockHandle& block : blocks) table.Append(std::move(block));
        ADIT_CHECK(table.Reserve(std::ssize(tokens)));
      }
      tree->Insert(tokens, std::ssize(tokens), 0, tables);
    }
  }

  Prompts prompts;
  BlockPool pool;
  std::unique_ptr<PrefixTree> tree;
};

Filled& FullAttention() {
  static Filled filled({0});
  return filled;
}
Filled& HalfWindowed() {
  static Filled filled({0, 1'024});
  return filled;
}

void Report(benchmark::State& state, const PrefixTree& tree) {
  state.counters["nodes"] = static_cast<double>(tree.num_nodes());
  state.counters["pages"] = static_cast<double>(tree.num_blocks());
}

// Takes references to 624 pages for each group and gives them back.
void MatchStored(benchmark::State& state, Filled& filled) {
  std::vector<std::vector<int32_t>> asked;
  for (uint32_t seed = 0; seed < 1'000; ++seed) asked.push_back(filled.prompts.Make(seed * 7));
  size_t i = 0;
  for (auto _ : state) {
    const kv::PrefixMatch match = filled.tree->Match(asked[i++ % asked.size()], kPromptTokens - 1, 0);
    ADIT_CHECK(match.num_tokens == 9'984 && match.partial_tokens == 15);
  }
  Report(state, *filled.tree);
}

// As the scheduler asks for every waiting prompt.
void MatchLengthStored(benchmark::State& state, Filled& filled) {
  const std::vector<int32_t> asked = filled.prompts.Make(77);
  for (auto _ : state) benchmark::DoNotOptimize(filled.tree->MatchLength(asked, kPromptTokens - 1, 0));
}

void MatchNothing(benchmark::State& state, Filled& filled) {
  std::vector<int32_t> asked = filled.prompts.Make(77);
  asked[0] = -1;
  for (auto _ : state) {
    const kv::PrefixMatch match = filled.tree->Match(asked, kPromptTokens - 1, 0);
    ADIT_CHECK(match.num_tokens == 0);
  }
}

// One page at a time while thousands of sequences run, whose leaves are older than all that can go.
void EvictOneAmongRunning(benchmark::State& state) {
  BlockPool pool(2 * kNumPrompts);
  PrefixTree tree(pool, {.block_size = kBlockSize});
  std::vector<std::vector<BlockTable>> running;
  std::vector<int32_t> tokens(kBlockSize);
  const auto insert = [&](int32_t first_token) {
    tokens[0] = first_token;
    std::vector<BlockTable> tables;
    ADIT_CHECK(tables.emplace_back(pool, kBlockSize).Reserve(kBlockSize));
    tree.Insert(tokens, kBlockSize, 0, tables);
    return tables;
  };
  for (int32_t i = 0; i < kNumPrompts; ++i) running.push_back(insert(i));
  for (auto _ : state) {
    insert(kNumPrompts);
    ADIT_CHECK(tree.Evict(1) == 1);
  }
}

BENCHMARK_CAPTURE(MatchStored, full, FullAttention())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(MatchStored, half_windowed, HalfWindowed())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(MatchLengthStored, full, FullAttention())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(MatchLengthStored, half_windowed, HalfWindowed())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(MatchNothing, full, FullAttention())->Unit(benchmark::kMicrosecond);
BENCHMARK(EvictOneAmongRunning)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace adit::bench
