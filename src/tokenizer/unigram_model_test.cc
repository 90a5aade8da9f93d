#include "tokenizer/unigram_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using Ids = std::vector<int32_t>;

Ids Encode(const UnigramModel& model, const std::string& word) {
  const TextRange all = {0, word.size()};
  Ids ids;
  if (!word.empty()) model.Encode(word, std::span(&all, 1), ids);
  return ids;
}

TEST(UnigramModel, TakesTheLikeliestTokens) {
  const std::vector<TextToken> tokens = {{"a", 1}, {"b", 2}, {"ab", 3}, {"abc", 4}, {"c", 5}};
  const UnigramModel model(tokens, {0, -1, -1, -1.5, -9, -1}, {.unknown_score = -20, .unknown = 0});
  EXPECT_THAT(Encode(model, "abc"), ElementsAre(3, 5));
  EXPECT_THAT(Encode(model, "abab"), ElementsAre(3, 3));
}

TEST(UnigramModel, NeighbouringUnknownCharactersAreOneToken) {
  const std::vector<TextToken> tokens = {{"a", 1}};
  const UnigramModel model(tokens, {0, -1}, {.unknown_score = -20, .unknown = 0});
  EXPECT_THAT(Encode(model, "xyé"), ElementsAre(0));
  EXPECT_THAT(Encode(model, "xaxx你a"), ElementsAre(0, 1, 0, 1));
  const UnigramModel silent(tokens, {0, -1}, {.unknown_score = -20});
  EXPECT_THAT(Encode(silent, "xax"), ElementsAre(1));
}

TEST(UnigramModel, UnknownCharactersMayBeSpelledInBytes) {
  std::vector<int32_t> bytes(256, -1);
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != 'z') bytes[static_cast<size_t>(byte)] = 100 + byte;
  }
  const std::vector<TextToken> tokens = {{"a", 1}};
  const UnigramModel model(tokens, std::vector<double>(400, -1), {-20, 0, bytes});
  EXPECT_THAT(Encode(model, "é"), ElementsAre(100 + 0xC3, 100 + 0xA9));
  EXPECT_THAT(Encode(model, "za"), ElementsAre(0, 1));
}

// Of all ways to cut the word, the best sum.
double BestScore(const std::string& word, const std::vector<TextToken>& tokens, const std::vector<double>& scores) {
  std::vector<double> best(word.size() + 1, -std::numeric_limits<double>::infinity());
  best[0] = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    for (const TextToken& token : tokens) {
      if (word.compare(i, token.text.size(), token.text) != 0) continue;
      double& there = best[i + token.text.size()];
      there = std::max(there, best[i] + scores[static_cast<size_t>(token.id)]);
    }
  }
  return best[word.size()];
}

TEST(UnigramModel, NoOtherWayIsLikelier) {
  constexpr uint32_t kSeed = 8;
  std::mt19937 rng(kSeed);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> texts = {"a", "b", "c"};
    for (int i = 0; i < 12; ++i) {
      std::string text;
      for (size_t n = 2 + rng() % 4; n > 0; --n) text += static_cast<char>('a' + rng() % 3);
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
    std::vector<TextToken> tokens;
    std::vector<double> scores;
    for (size_t i = 0; i < texts.size(); ++i) {
      tokens.push_back({texts[i], static_cast<int32_t>(i)});
      scores.push_back(-1.0 - static_cast<double>(rng() % 100) / 16);
    }
    const UnigramModel model(tokens, scores, {.unknown_score = -100});
    std::string word;
    for (size_t n = rng() % 20; n > 0; --n) word += static_cast<char>('a' + rng() % 3);
    double sum = 0;
    std::string joined;
    for (const int32_t id : Encode(model, word)) {
      sum += scores[static_cast<size_t>(id)];
      joined += texts[static_cast<size_t>(id)];
    }
    ASSERT_EQ(joined, word);
    ASSERT_EQ(sum, word.empty() ? 0 : BestScore(word, tokens, scores)) << "seed " << kSeed << " round " << round;
  }
}

TEST(ByteTrie, FindsEveryTextAndNoOther) {
  constexpr uint32_t kSeed = 5;
  std::mt19937 rng(kSeed);
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (size_t n = 1 + rng() % 6; n > 0; --n) text += static_cast<char>(rng() % (i % 2 == 0 ? 256 : 4));
    texts.push_back(text);
  }
  std::vector<TextToken> tokens;
  for (size_t i = 0; i < texts.size(); ++i) tokens.push_back({texts[i], static_cast<int32_t>(i)});
  const ByteTrie trie(tokens);
  const auto find = [&](const std::string& text) {
    uint32_t node = 0;
    for (const char byte : text) {
      if (!trie.Step(node, byte)) return -1;
    }
    return trie.Token(node);
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(find(text), std::find(texts.begin(), texts.end(), text) - texts.begin());
    const std::string longer = text + 'x';
    if (std::find(texts.begin(), texts.end(), longer) == texts.end()) {
      EXPECT_EQ(find(longer), -1);
    }
  }
  EXPECT_EQ(find(""), -1);
  EXPECT_EQ(ByteTrie({}).Token(0), -1);
}

}  // namespace
}  // namespace adit::tokenizer
