#include "tokenizer/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/regex_oracle.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/text_cutter.h"
#include "tokenizer/unicode_class.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;

// The White_Space property, written out, since \s of PCRE2 has one character more.
const std::string kWs =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";

// `pattern` with white space spelled by kWs: \s inside a class as %, elsewhere [%].
std::string WithWhiteSpace(std::string pattern) {
  for (size_t pos = pattern.find('%'); pos != std::string::npos; pos = pattern.find('%', pos + kWs.size())) {
    pattern.replace(pos, 1, kWs);
  }
  return pattern;
}

const std::string kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^%\\p{L}\\p{N}]+|[%]+(?![^%])|[%]+";
const std::string kLlama3 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^%\\p{L}\\p{N}]+[\\r\\n]*|[%]*[\\r\\n]+|"
    "[%]+(?![^%])|[%]+";
const std::string kQwen2 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^%\\p{L}\\p{N}]+[\\r\\n]*|[%]*[\\r\\n]+|"
    "[%]+(?![^%])|[%]+";
const std::string kQwen35 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^%\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|"
    "[%]*[\\r\\n]+|[%]+(?![^%])|[%]+";

struct Rule {
  std::string name;
  SplitFunction split;
  std::vector<std::string> patterns;
};

const std::vector<Rule>& Rules() {
  static const auto* const rules = new std::vector<Rule>{
      {"gpt2", SplitGpt2, {kGpt2}},
      {"digits_then_gpt2", SplitDigitsThenGpt2, {"\\p{N}", kGpt2}},
      {"default", SplitDefault, {"[\\p{P}\\$\\+<=>\\^~\\|]+", kGpt2, "\\p{N}+", "[0-9][0-9][0-9]"}},
      {"llama3", SplitLlama3, {kLlama3}},
      {"qwen2", SplitQwen2, {kQwen2}},
      {"qwen35", SplitQwen35, {kQwen35}},
      {"superbpe", SplitSuperBpe, {"\\p{N}+", "(?=(\\p{Nd}{3})+(?!\\p{Nd}))"}},
      {"threes_before_borders",
       SplitThreesBeforeBorders,
       {"\\p{Nd}{1,3}(?=(?:\\p{Nd}{3})*(?![\\p{L}\\p{M}\\p{Nd}\\p{Pc}]))"}},
  };
  return *rules;
}

std::vector<std::string> Words(SplitFunction split, const std::string& text) {
  WordEnds ends;
  split(text, ends);
  std::vector<std::string> words;
  size_t begin = 0;
  for (const size_t end : ends) {
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

// What random texts are made of: every class, pieces that branches of the rules look for, and their neighbours.
const std::vector<std::string>& Atoms() {
  static const auto* const atoms = new std::vector<std::string>{
      "a",          "B",      "s",      "T",      "re",       "Ve",     "ll",     "LL",     "m",      "d",
      "\u017F",     "\u212A", "é",      "Я",      "你",       "か",     "ß",      "ǅ",      "ʰ",      "0",
      "1",          "23",     "456",    "²",      "½",        "٣",      "Ⅷ",      "'",      "'s",     "'S",
      "'\u017F",    "'re",    "'Ll",    "'d",     "''",       "’s",     " ",      "  ",     "   ",    "\t",
      "\n",         "\r",     "\r\n",   "\n\n",   "\v",       "\f",     "\u0085", "\u00A0", "\u3000", "\u2028",
      "\u2009",     "\u180E", "\u200B", "\uFEFF", ".",        ",",      "!?",     "_",      "-",      "(",
      "$",          "+",      "<|",     "=",      "^",        "~",      "`",      "€",      "。",     "、",
      "\u0301",     "\u0903", "\u20DD", "🙂",   "👍🏽", "\u200D", "\x01",   "\x7F",   "\uFFFD", "\U000E0001",
      "\U0010FFFF", "\u0378"};
  return *atoms;
}

std::string RandomText(std::mt19937& rng) {
  std::string text;
  for (size_t i = rng() % 16; i > 0; --i) text += Atoms()[rng() % Atoms().size()];
  return text;
}

// A text of random code points on which both Unicode versions agree, most of them from the crowded planes.
std::string RandomCodePoints(std::mt19937& rng, const OracleRegex& unassigned) {
  std::string text;
  for (size_t i = rng() % 12; i > 0; --i) {
    std::string c;
    AppendUtf8(rng() % (rng() % 2 == 0 ? 0x3000 : 0x20000), c);
    if (!unassigned.FullMatch(c)) text += c;
  }
  return text;
}

class SplitRule : public testing::TestWithParam<size_t> {};

TEST_P(SplitRule, EqualsItsRegularExpression) {
  const Rule& rule = Rules()[GetParam()];
  std::vector<std::unique_ptr<OracleRegex>> expressions;
  for (const std::string& pattern : rule.patterns)
    expressions.push_back(std::make_unique<OracleRegex>(WithWhiteSpace(pattern)));
  const OracleRegex unassigned("\\p{Cn}");
  constexpr uint32_t kSeed = 20;
  std::mt19937 rng(kSeed);
  for (int round = 0; round < 30'000; ++round) {
    const std::string text = round % 3 == 0 ? RandomCodePoints(rng, unassigned) : RandomText(rng);
    WordEnds ends;
    rule.split(text, ends);
    ASSERT_EQ(ends, SplitByRegexes(text, expressions)) << "seed " << kSeed << " round " << round << ": " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SplitRule, testing::Range(size_t{0}, Rules().size()),
                         [](const auto& param_info) { return Rules()[param_info.param].name; });

// The patterns of tokenizer.json that a splitter stands for.
TEST(PreTokenizer, ASplitterStandsForItsPatternInJson) {
  const std::vector<std::string> patterns = {
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
      R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
      R"(\s+(?!\S)|\s+)",
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
      R"(\s+(?!\S)|\s+)",
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)"
      R"(\s*[\r\n]+|\s+(?!\S)|\s+)"};
  constexpr uint32_t kSeed = 21;
  std::mt19937 rng(kSeed);
  for (const std::string& pattern : patterns) {
    const auto compiled = SplitPattern::FromOnig(pattern);
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    ASSERT_NE(compiled->splitter(), nullptr) << pattern;
    for (int round = 0; round < 3000; ++round) {
      const std::string text = RandomText(rng);
      WordEnds ends;
      compiled->splitter()(text, ends);
      WordEnds wanted;
      compiled->ForEachMatch(text, [&](size_t, size_t end) { wanted.push_back(end); });
      ASSERT_EQ(ends, wanted) << pattern << " seed " << kSeed << " round " << round << ": " << text;
    }
  }
}

TEST(PreTokenizer, EveryRuleCutsAllOfTheText) {
  constexpr uint32_t kSeed = 22;
  std::mt19937 rng(kSeed);
  int num_patterns = 0;
  for (const char* name :
       {"deepseek-llm", "deepseek-coder", "deepseek-v3", "youtu", "falcon", "bloom", "viking", "tekken", "chameleon",
        "gpt-4o", "tiny_aya", "bailingmoe", "seed-coder", "kimi-k2", "laguna", "exaone-moe", "minicpm5", "jais-2"}) {
    const PreTokenizer* const rule = FindPreTokenizer(name);
    ASSERT_NE(rule, nullptr) << name;
    for (const std::string_view pattern : rule->patterns) {
      const auto compiled = SplitPattern::FromOnig(pattern);
      ASSERT_TRUE(compiled.ok()) << name << ": " << compiled.status().ToString();
      ++num_patterns;
      const auto cutter = MakePatternCutter(*compiled, CutBehavior::kIsolated, false);
      for (int round = 0; round < 200; ++round) {
        const std::string text = RandomText(rng) + "x";
        CutText cut(text, true);
        cutter->Apply(cut);
        size_t end = 0;
        for (const TextRange& word : cut.words()) {
          ASSERT_EQ(word.begin, end);
          end = word.end;
        }
        ASSERT_EQ(end, text.size());
      }
    }
  }
  EXPECT_GT(num_patterns, 35);
}

TEST(PreTokenizer, LeavesTheLastBlankToTheNextWord) {
  const std::string text = "x\n\n\n  y  ";
  EXPECT_THAT(Words(SplitGpt2, text), ElementsAre("x", "\n\n\n ", " y", "  "));
  EXPECT_THAT(Words(SplitDigitsThenGpt2, text), ElementsAre("x", "\n\n\n ", " y", "  "));
  EXPECT_THAT(Words(SplitLlama3, text), ElementsAre("x", "\n\n\n", " ", " y", "  "));
  EXPECT_THAT(Words(SplitQwen2, text), ElementsAre("x", "\n\n\n", " ", " y", "  "));
}

TEST(PreTokenizer, NumbersAreCutByFamily) {
  EXPECT_THAT(Words(SplitGpt2, "a 12345"), ElementsAre("a", " 12345"));
  EXPECT_THAT(Words(SplitDigitsThenGpt2, "a 12"), ElementsAre("a", " ", "1", "2"));
  EXPECT_THAT(Words(SplitLlama3, "a 12345"), ElementsAre("a", " ", "123", "45"));
  EXPECT_THAT(Words(SplitQwen2, "a 12"), ElementsAre("a", " ", "1", "2"));
  EXPECT_THAT(Words(SplitDefault, "a 12345"), ElementsAre("a", " ", "123", "45"));
}

TEST(PreTokenizer, ContractionsFoldCaseWhereTheRuleSaysSo) {
  EXPECT_THAT(Words(SplitLlama3, "I'LL it'\u017F"), ElementsAre("I", "'LL", " it", "'\u017F"));
  EXPECT_THAT(Words(SplitGpt2, "I'LL I'll"), ElementsAre("I", "'", "LL", " I", "'ll"));
}

TEST(PreTokenizer, SurrogatesOfBrokenInputAreSymbols) {
  EXPECT_THAT(Words(SplitLlama3, "a\xED\xA0\x80\xED\xB0\x80 b"), ElementsAre("a", "\xED\xA0\x80\xED\xB0\x80", " b"));
}

TEST(PreTokenizer, KnowsAliasesAndNamesThemAll) {
  EXPECT_EQ(FindPreTokenizer("llama-v3")->split, FindPreTokenizer("llama-bpe")->split);
  EXPECT_EQ(FindPreTokenizer("deepseek-r1-qwen")->split, FindPreTokenizer("qwen2")->split);
  EXPECT_TRUE(FindPreTokenizer("llama-bpe")->whole_words);
  EXPECT_FALSE(FindPreTokenizer("smaug-bpe")->whole_words);
  EXPECT_TRUE(FindPreTokenizer("llama-bpe")->adds_bos);
  EXPECT_FALSE(FindPreTokenizer("qwen2")->adds_bos);
  EXPECT_EQ(FindPreTokenizer("nobody"), nullptr);
  EXPECT_EQ(FindPreTokenizer(""), nullptr);
  EXPECT_THAT(PreTokenizerNames(), testing::HasSubstr("llama-bpe, "));
}

}  // namespace
}  // namespace adit::tokenizer
