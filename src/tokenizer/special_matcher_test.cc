#include "tokenizer/special_matcher.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace adit::tokenizer {
namespace {

int32_t IdAt(const SpecialMatcher& matcher, std::string_view text, size_t num_trusted) {
  const auto match = matcher.MatchAt(text, num_trusted);
  return match ? match->id : -1;
}

TEST(SpecialMatcher, TakesTheLongestAtAPlace) {
  SpecialMatcher matcher;
  matcher.Add("<a>", 1, {});
  matcher.Add("<a>b", 2, {});
  matcher.Add("<", 3, {});
  matcher.Build();
  EXPECT_EQ(IdAt(matcher, "<a>bc", 0), 2);
  EXPECT_EQ(IdAt(matcher, "<a>c", 0), 1);
  EXPECT_EQ(IdAt(matcher, "<a", 0), 3);
  EXPECT_EQ(IdAt(matcher, "a<", 0), -1);
  EXPECT_EQ(IdAt(matcher, "", 0), -1);
  EXPECT_TRUE(matcher.CanStart('<'));
  EXPECT_FALSE(matcher.CanStart('a'));
}

TEST(SpecialMatcher, ControlTokensMustLieInTrustedText) {
  SpecialMatcher matcher;
  matcher.Add("<|end|>", 1, {.needs_trust = true});
  matcher.Add("<|", 2, {});
  matcher.Build();
  EXPECT_EQ(IdAt(matcher, "<|end|>x", 8), 1);
  EXPECT_EQ(IdAt(matcher, "<|end|>x", 7), 1);
  EXPECT_EQ(IdAt(matcher, "<|end|>x", 6), 2) << "the shorter token that is allowed";
  EXPECT_EQ(IdAt(matcher, "<|end|>x", 0), 2);
}

TEST(SpecialMatcher, AgreesWithTryingEveryToken) {
  constexpr uint32_t kSeed = 11;
  std::mt19937 rng(kSeed);
  for (int round = 0; round < 3'000; ++round) {
    const auto random_text = [&rng](size_t min_length) {
      std::string text;
      for (size_t i = min_length + rng() % 6; i > 0; --i) text += "ab\xFF"[rng() % 3];
      return text;
    };
    SpecialMatcher matcher;
    std::vector<std::string> texts;
    for (size_t i = rng() % 8; i > 0; --i) {
      const std::string text = random_text(1);
      if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
      matcher.Add(text, static_cast<int32_t>(texts.size()), {.needs_trust = texts.size() % 2 == 0});
      texts.push_back(text);
    }
    matcher.Build();
    const std::string text = random_text(0);
    const size_t num_trusted = rng() % 8;
    int32_t expected = -1;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!text.starts_with(texts[i]) || (i % 2 == 0 && texts[i].size() > num_trusted)) continue;
      if (expected < 0 || texts[i].size() > texts[static_cast<size_t>(expected)].size())
        expected = static_cast<int32_t>(i);
    }
    ASSERT_EQ(IdAt(matcher, text, num_trusted), expected) << "seed " << kSeed << " round " << round;
  }
}

}  // namespace
}  // namespace adit::tokenizer
