#ifndef ADIT_KV_PREFIX_TREE_WORLD_H_
#define ADIT_KV_PREFIX_TREE_WORLD_H_

// For tests: sequences that use a prefix tree as an engine does, at random.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "kv/prefix_tree.h"
#include "kv/prefix_tree_model.h"

namespace adit::kv {

using Tokens = std::vector<int32_t>;

struct Config {
  const char* name;
  int64_t block_size;
  std::vector<int64_t> windows;
  int32_t vocab_size;  // vocab_size^block_size <= 16: all children of a node are looked at for a partial block
  int32_t pool_blocks;
  bool constant_hash = false;
};

inline void PrintTo(const Config& config, std::ostream* out) { *out << config.name; }

inline uint64_t ConstantHash(uint64_t /*seed*/, std::span<const int32_t> /*tokens*/) { return 42; }

// A sequence that runs: it has computed the keys and values of its first tokens.
struct Sequence {
  uint64_t salt = 0;
  Tokens tokens;
  int64_t num_computed = 0;
  std::vector<BlockTable> tables;  // [num_groups]
};

// Sequences and the tree on one pool, beside the model. Remembers for each page whose values it holds, as memory would.
class World {
 public:
  World(const Config& config, int64_t max_sequences, uint32_t seed)
      : config_(config),
        max_sequences_(max_sequences),
        rng_(seed),
        pool_(config.pool_blocks),
        tree_(pool_, {.block_size = config.block_size,
                      .windows = config.windows,
                      .hash = config.constant_hash ? &ConstantHash : &HashTokens}),
        model_(pool_, config.block_size, config.windows, config.constant_hash),
        contents_(static_cast<size_t>(config.pool_blocks)) {}

  void Step() {
    switch (Random(16)) {
      case 0:
      case 1:
      case 2:
        return Start();
      case 3:
        return Fork();
      case 4:
        return Finish();
      case 5:
      case 6:
        return InsertSome();
      case 7:
        return Truncate();
      case 8:
        return Random(3) == 0 ? Evict(1 + Random(8)) : LetMatchGo();
      case 9:
        if (Random(20) == 0) EvictAll();
        if (Random(300) == 0) Clear();
        return Query();
      default:
        return Compute();
    }
  }

  // Counts that must agree after every step.
  void CheckCounts() {
    ASSERT_EQ(tree_.num_blocks(), model_.num_pages());
    ASSERT_EQ(tree_.num_evictable(), model_.num_evictable());
    ASSERT_EQ(tree_.stats().inserted_blocks - tree_.stats().evicted_blocks - cleared_, tree_.num_blocks());
  }
  void CheckInvariants() const { tree_.CheckInvariants(); }

  // Ends everything; all pages must be back, without which the pool's destructor fails too.
  void End() {
    sequences_.clear();
    matches_.clear();
    EvictAll();
    EXPECT_EQ(tree_.num_blocks(), 0);
    EXPECT_EQ(tree_.num_nodes(), 0);
    EXPECT_EQ(pool_.num_free(), pool_.num_blocks());
  }

  // The steps must have met what they are to test.
  void CheckCoverage() const {
    const PrefixTreeStats& stats = tree_.stats();
    const bool any_window = std::ranges::any_of(config_.windows, [](int64_t window) { return window > 0; });
    EXPECT_EQ(model_.windowed_evictions() > 0, any_window);
    EXPECT_GT(stats.evicted_blocks, 200);
    EXPECT_GT(stats.hit_tokens, 1'000);
    EXPECT_EQ(stats.partial_tokens > 500, config_.block_size > 1);
    if (config_.constant_hash) return;
    for (int reason = 0; reason < kNumMissReasons; ++reason) {
      EXPECT_GT(stats.misses[static_cast<size_t>(reason)], 0) << MissReasonName(static_cast<MissReason>(reason));
    }
  }

 private:
  // What the values in a page were computed from.
  struct Content {
    size_t group = 0;
    uint64_t salt = 0;
    Tokens tokens;  // from the start of the sequence
  };

  int64_t Random(int64_t bound) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(bound)); }
  int32_t RandomToken() { return static_cast<int32_t>(Random(config_.vocab_size)); }
  size_t num_groups() const { return config_.windows.size(); }
  Content& ContentOf(int32_t page) { return contents_[static_cast<size_t>(page)]; }

  Sequence* AnySequence() {
    return sequences_.empty() ? nullptr : &sequences_[static_cast<size_t>(Random(std::ssize(sequences_)))];
  }
  void Remove(Sequence* sequence) {
    if (sequence != &sequences_.back()) std::swap(*sequence, sequences_.back());
    sequences_.pop_back();
  }

  // Begins like an earlier prompt, as conversations and templates do.
  Tokens RandomPrompt() {
    Tokens tokens;
    if (!history_.empty() && Random(4) != 0) {
      tokens = history_[static_cast<size_t>(Random(std::ssize(history_)))];
      if (Random(2) == 0) tokens.resize(static_cast<size_t>(Random(std::ssize(tokens) + 1)));
    }
    const int64_t more = Random(9);
    for (int64_t i = 0; i < more && tokens.size() < 30; ++i) tokens.push_back(RandomToken());
    if (tokens.empty()) tokens.push_back(RandomToken());
    if (history_.size() < 30) history_.push_back(tokens);
    history_[static_cast<size_t>(Random(std::ssize(history_)))] = tokens;
    return tokens;
  }

  PrefixMatch Match(const Tokens& tokens, int64_t max_tokens, uint64_t salt) {
    const Tokens asked(tokens.begin(), tokens.begin() + max_tokens);
    const int64_t length = tree_.MatchLength(tokens, max_tokens, salt);
    PrefixMatch match = tree_.Match(tokens, max_tokens, salt);
    const PrefixTreeModel::Match expected = model_.Find(asked, salt);
    EXPECT_EQ(length, match.num_tokens);
    EXPECT_EQ(match.num_tokens, expected.num_tokens);
    EXPECT_EQ(match.partial_tokens, expected.partial_tokens);
    EXPECT_STREQ(MissReasonName(match.reason), MissReasonName(expected.reason));
    EXPECT_EQ(match.miss_position, expected.miss_position);
    EXPECT_TRUE(expected.stored_tokens.contains(match.stored_token)) << match.stored_token;
    CheckPages(match, asked, salt);
    return match;
  }

  // Every page of the match holds the values of just these tokens, and is there if and only if it is needed.
  void CheckPages(const PrefixMatch& match, const Tokens& tokens, uint64_t salt) {
    ASSERT_EQ(match.blocks.size(), num_groups());
    ASSERT_EQ(match.partial.size(), match.partial_tokens > 0 ? num_groups() : 0);
    const int64_t block_size = config_.block_size;
    for (size_t group = 0; group < num_groups(); ++group) {
      ASSERT_EQ(std::ssize(match.blocks[group]) * block_size, match.num_tokens);
      const int64_t window = config_.windows[group];
      for (int64_t i = 0; i < std::ssize(match.blocks[group]); ++i) {
        const BlockHandle& page = match.blocks[group][static_cast<size_t>(i)];
        ASSERT_EQ(static_cast<bool>(page), window == 0 || (i + 1) * block_size > match.num_tokens - window + 1);
        if (page) CheckContent(page.id(), group, salt, tokens, (i + 1) * block_size);
      }
      if (match.partial_tokens > 0) {
        CheckContent(match.partial[group].id(), group, salt, tokens, match.num_tokens + match.partial_tokens);
      }
    }
  }

  void CheckContent(int32_t page, size_t group, uint64_t salt, const Tokens& tokens, int64_t num_tokens) {
    const Content& content = ContentOf(page);
    ASSERT_EQ(content.group, group);
    ASSERT_EQ(content.salt, salt);
    ASSERT_GE(std::ssize(content.tokens), num_tokens);
    ASSERT_TRUE(std::equal(tokens.begin(), tokens.begin() + num_tokens, content.tokens.begin()));
  }

  void Start() {
    if (std::ssize(sequences_) >= max_sequences_) Finish();
    Sequence sequence{.salt = Random(4) == 0 ? 1u : 0u, .tokens = RandomPrompt()};
    PrefixMatch match = Match(sequence.tokens, std::ssize(sequence.tokens) - 1, sequence.salt);
    for (size_t group = 0; group < num_groups(); ++group) {
      BlockTable& table = sequence.tables.emplace_back(pool_, config_.block_size);
      for (BlockHandle& block : match.blocks[group]) table.Append(std::move(block));
    }
    sequence.num_computed = match.num_tokens;
    if (match.partial_tokens > 0 && MakeRoom(std::ssize(config_.windows))) {
      sequence.num_computed += match.partial_tokens;
      for (size_t group = 0; group < num_groups(); ++group) {
        std::optional<BlockHandle> page = pool_.Allocate();
        ContentOf(page->id()) = ContentOf(match.partial[group].id());
        ContentOf(page->id()).tokens.resize(static_cast<size_t>(sequence.num_computed));
        sequence.tables[group].Append(*std::move(page));
      }
    }
    match.partial.clear();
    sequences_.push_back(std::move(sequence));
  }

  // Whether that many pages are free, after evicting if need be.
  bool MakeRoom(int64_t num_pages) {
    if (num_pages > pool_.num_free()) Evict(num_pages - pool_.num_free());
    return num_pages <= pool_.num_free();
  }

  // Runs some tokens; a sequence that finds no pages ends.
  void Compute() {
    Sequence* sequence = AnySequence();
    if (sequence == nullptr) return;
    Tokens& tokens = sequence->tokens;
    if (sequence->num_computed == std::ssize(tokens)) tokens.push_back(RandomToken());
    const int64_t begin = sequence->num_computed;
    const int64_t end = std::min(std::ssize(tokens), begin + 1 + Random(6));
    int64_t needed = 0;
    for (size_t group = 0; group < num_groups(); ++group) {
      BlockTable& table = sequence->tables[group];
      if (config_.windows[group] > 0) table.ReleaseBefore(begin - config_.windows[group] + 1);
      // One more, in case the block begun is shared.
      needed += table.BlocksToReserve(end) + (begin % config_.block_size != 0 ? 1 : 0);
    }
    if (!MakeRoom(needed)) return Remove(sequence);
    for (size_t group = 0; group < num_groups(); ++group) {
      BlockTable& table = sequence->tables[group];
      if (begin % config_.block_size != 0) {
        const WritableBlock block = table.MakeWritable(begin / config_.block_size);
        ASSERT_NE(block.state, WritableBlock::State::kNoFreeBlock);
        if (block.state == WritableBlock::State::kCopied) ContentOf(block.to) = ContentOf(block.from.id());
      }
      ASSERT_TRUE(table.Reserve(end));
      for (int64_t position = begin; position < end; ++position) Write(*sequence, group, position);
    }
    sequence->num_computed = end;
    if (std::ssize(tokens) > 40) Remove(sequence);
  }

  // Computes the values of a position of one group, reading all that its window sees.
  void Write(const Sequence& sequence, size_t group, int64_t position) {
    const int64_t block_size = config_.block_size;
    const std::span<const int32_t> ids = sequence.tables[group].ids();
    const int64_t window = config_.windows[group];
    const int64_t first = window == 0 ? 0 : std::max<int64_t>(0, position - window + 1);
    for (int64_t i = first / block_size; i * block_size < position; ++i) {
      ASSERT_GE(ids[static_cast<size_t>(i)], 0);
      CheckContent(ids[static_cast<size_t>(i)], group, sequence.salt, sequence.tokens,
                   std::min(position, (i + 1) * block_size));
    }
    const int32_t page = ids[static_cast<size_t>(position / block_size)];
    ASSERT_EQ(pool_.ref_count(page), 1) << "writes to a page that others read";
    ContentOf(page) = {group, sequence.salt, Tokens(sequence.tokens.begin(), sequence.tokens.begin() + position + 1)};
  }

  void InsertSome() {
    Sequence* sequence = AnySequence();
    if (sequence == nullptr) return;
    const int64_t num_tokens = Random(4) == 0 ? Random(sequence->num_computed + 1) : sequence->num_computed;
    std::vector<std::vector<int32_t>> expected;
    for (const BlockTable& table : sequence->tables) expected.emplace_back(table.ids().begin(), table.ids().end());
    model_.Insert(Tokens(sequence->tokens.begin(), sequence->tokens.begin() + num_tokens), sequence->salt, expected);
    tree_.Insert(sequence->tokens, num_tokens, sequence->salt, sequence->tables);
    for (size_t group = 0; group < num_groups(); ++group) {
      ASSERT_TRUE(std::ranges::equal(sequence->tables[group].ids(), expected[group]));
    }
    if (Random(2) == 0) Remove(sequence);
  }

  void Finish() {
    if (Sequence* sequence = AnySequence()) Remove(sequence);
  }

  // As when several answers are sampled from one prompt.
  void Fork() {
    Sequence* sequence = AnySequence();
    if (sequence == nullptr || std::ssize(sequences_) >= max_sequences_) return;
    Sequence fork{.salt = sequence->salt, .tokens = sequence->tokens, .num_computed = sequence->num_computed};
    for (const BlockTable& table : sequence->tables) fork.tables.push_back(table.Fork());
    fork.tokens.resize(static_cast<size_t>(fork.num_computed));
    fork.tokens.push_back(RandomToken());
    sequences_.push_back(std::move(fork));
  }

  // As when speculation fails; what a window has passed does not come back, so only without windows.
  void Truncate() {
    Sequence* sequence = AnySequence();
    const bool any_window = std::ranges::any_of(config_.windows, [](int64_t window) { return window > 0; });
    if (sequence == nullptr || any_window) return;
    sequence->num_computed = Random(sequence->num_computed + 1);
    sequence->tokens.resize(static_cast<size_t>(sequence->num_computed));
    for (BlockTable& table : sequence->tables) table.Truncate(sequence->num_computed);
    for (BlockTable& table : sequence->tables) {
      ASSERT_EQ(table.num_blocks(), (sequence->num_computed + config_.block_size - 1) / config_.block_size);
    }
  }

  // A match that is held for a while and pins its pages.
  void Query() {
    const Tokens tokens = RandomPrompt();
    matches_.push_back(Match(tokens, Random(std::ssize(tokens) + 1), static_cast<uint64_t>(Random(3))));
    if (matches_.size() > 3) matches_.erase(matches_.begin());
  }
  void LetMatchGo() {
    if (!matches_.empty()) matches_.pop_back();
  }

  void Evict(int64_t num_pages) {
    const int64_t expected = model_.Evict(num_pages);
    const int32_t free_before = pool_.num_free();
    ASSERT_EQ(tree_.Evict(num_pages), expected);
    ASSERT_EQ(pool_.num_free() - free_before, expected) << "a page that others hold was let go";
    ASSERT_EQ(tree_.num_blocks(), model_.num_pages());
    for (const auto& [path, block] : model_.blocks()) {
      for (const int32_t id : block.pages) ASSERT_TRUE(id < 0 || pool_.is_cached(id)) << "another victim";
    }
  }

  // num_evictable is exact.
  void EvictAll() {
    const int64_t evictable = tree_.num_evictable();
    const int32_t free_before = pool_.num_free();
    Evict(pool_.num_blocks());
    ASSERT_EQ(pool_.num_free() - free_before, evictable);
    ASSERT_EQ(tree_.num_evictable(), 0);
  }

  void Clear() {
    cleared_ += tree_.num_blocks();
    tree_.Clear();
    model_.Clear();
  }

  const Config& config_;
  int64_t max_sequences_;
  std::mt19937 rng_;
  BlockPool pool_;
  PrefixTree tree_;
  PrefixTreeModel model_;
  std::vector<Content> contents_;  // [pool_blocks]
  std::vector<Sequence> sequences_;
  std::vector<PrefixMatch> matches_;
  std::vector<Tokens> history_;
  int64_t cleared_ = 0;
};

}  // namespace adit::kv

#endif  // ADIT_KV_PREFIX_TREE_WORLD_H_
