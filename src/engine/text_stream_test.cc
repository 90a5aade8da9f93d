#include "engine/text_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/utf8.h"

namespace adit::engine {
namespace {

// A vocabulary of any pieces: token i is piece i.
class PieceTokenizer : public tokenizer::Tokenizer {
 public:
  explicit PieceTokenizer(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}

  using Tokenizer::Encode;
  std::vector<int32_t> Encode(std::span<const tokenizer::TextSegment>, bool) const override { return {}; }
  std::string TokenBytes(int32_t id, bool) const override { return pieces_[static_cast<size_t>(id)]; }
  Result<std::string> Decode(std::span<const int32_t> ids, bool with_special) const override {
    std::string text;
    for (const int32_t id : ids) text += TokenBytes(id, with_special);
    return text;
  }
  int64_t vocab_size() const override { return static_cast<int64_t>(pieces_.size()); }
  std::string_view Piece(int32_t id) const override { return pieces_[static_cast<size_t>(id)]; }
  tokenizer::TokenType Type(int32_t) const override { return tokenizer::TokenType::kNormal; }
  std::optional<int32_t> bos_id() const override { return std::nullopt; }
  std::optional<int32_t> eos_id() const override { return std::nullopt; }
  bool adds_bos() const override { return false; }
  bool adds_eos() const override { return false; }
  std::span<const int32_t> end_of_generation_ids() const override { return {}; }
  std::string Description() const override { return "pieces"; }

 private:
  std::vector<std::string> pieces_;
};

// What the stream gives for each of the pieces and at the end.
struct Streamed {
  std::vector<std::string> given;
  std::optional<size_t> stop;
  std::string Text() const {
    std::string text;
    for (const std::string& piece : given) text += piece;
    return text;
  }
};

Streamed Stream(const std::vector<std::string>& pieces, TextStreamOptions options) {
  const PieceTokenizer tokenizer(pieces);
  TextStream stream(tokenizer, std::move(options));
  Streamed streamed;
  for (size_t i = 0; i < pieces.size(); ++i) streamed.given.push_back(stream.Append(static_cast<int32_t>(i)));
  streamed.given.push_back(stream.Finish());
  streamed.stop = stream.stop();
  EXPECT_EQ(stream.num_bytes(), streamed.Text().size());
  return streamed;
}

using Pieces = std::vector<std::string>;

TEST(TextStream, GivesEachPieceAtOnceWhereNothingCanStopIt) {
  EXPECT_EQ(Stream({"one", " two", " three"}, {}).given, (Pieces{"one", " two", " three", ""}));
  EXPECT_EQ(Stream({"one", " two"}, {.stops = {"xyz"}}).given, (Pieces{"one", " two", ""}));
}

TEST(TextStream, FindsAStopStringAcrossTokens) {
  const Streamed streamed = Stream({"the E", "N", "D of", " it"}, {.stops = {"zz", "END"}});
  EXPECT_EQ(streamed.given, (Pieces{"the ", "", "", "", ""}));
  EXPECT_EQ(streamed.stop, 1U);
}

TEST(TextStream, HoldsBackOnlyWhatMayStillBecomeAStopString) {
  // "ab" may; once "x" has come only that is past.
  const Streamed streamed = Stream({"a", "b", "x", "aab", "a"}, {.stops = {"abc"}});
  EXPECT_EQ(streamed.given, (Pieces{"", "", "abx", "a", "ab", "a"}));
  EXPECT_FALSE(streamed.stop);
}

TEST(TextStream, TheFirstToBeCompleteWinsAndAmongThoseTheLongest) {
  EXPECT_EQ(Stream({"xabcd"}, {.stops = {"abcd", "bc"}}).Text(), "xa");
  const Streamed streamed = Stream({"xabc"}, {.stops = {"c", "bc", "abc"}});
  EXPECT_EQ(streamed.Text(), "x");
  EXPECT_EQ(streamed.stop, 2U);
}

TEST(TextStream, LooksForNoStopStringInTheFirstTokens) {
  const Streamed streamed = Stream({"stop", "st", "op", "st", "op"}, {.stops = {"stop"}, .min_tokens = 2});
  // "op" alone is none, for its "st" came too early.
  EXPECT_EQ(streamed.given, (Pieces{"stop", "st", "op", "", "", ""}));
  EXPECT_EQ(streamed.stop, 0U);
}

TEST(TextStream, CharactersOfSeveralTokensComeWhole) {
  const Streamed streamed = Stream({"\xF0\x9F", "\x98", "\x80!", "\xE2\x82"}, {.stops = {"\xF0\x9F\x98\x81"}});
  EXPECT_EQ(streamed.given, (Pieces{"", "", "\xF0\x9F\x98\x80!", "", "\xEF\xBF\xBD"}));
}

TEST(TextStream, TheEndMayCompleteAStopString) {
  const Streamed streamed = Stream({"a\xE2\x82"}, {.stops = {"\xEF\xBF\xBD"}});
  EXPECT_EQ(streamed.given, (Pieces{"a", ""}));
  EXPECT_EQ(streamed.stop, 0U);
}

// The definition: the whole text, read up to the first byte at which a stop string is complete.
std::string WholeText(const std::string& bytes, const std::vector<std::string>& stops) {
  const std::string text = ReplaceInvalidUtf8(bytes);
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops) {
      if (std::string_view(text).substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest > 0) return text.substr(0, end - longest);
  }
  return text;
}

// Bytes at the end of `text` that some stop string begins with.
size_t MustHold(std::string_view text, const std::vector<std::string>& stops) {
  for (size_t length = text.size(); length > 0; --length) {
    const std::string_view end = text.substr(text.size() - length);
    for (const std::string& stop : stops) {
      if (std::string_view(stop).starts_with(end)) return length;
    }
  }
  return 0;
}

class RandomText {
 public:
  explicit RandomText(uint32_t seed) : random_(seed) {}
  size_t Below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }
  std::string Characters(size_t count) {
    static constexpr const char* kCharacters[] = {"a", "b", "\xC3\xA9", "\xC3\xA8", "\xF0\x9F\x98\x80"};
    std::string text;
    for (size_t i = 0; i < count; ++i) text += kCharacters[Below(std::size(kCharacters))];
    return text;
  }
  // Any bytes now and then: parts of characters.
  std::string Bytes(size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      std::string character = Characters(1);
      text += Below(8) == 0 ? character.substr(0, 1) : character;
    }
    return text;
  }
  Pieces Cut(std::string_view bytes) {
    Pieces pieces;
    while (!bytes.empty()) {
      const size_t length = Below(std::min<size_t>(bytes.size(), 6) + 1);
      pieces.emplace_back(bytes.substr(0, length));
      bytes.remove_prefix(length);
    }
    return pieces;
  }

 private:
  std::mt19937 random_;
};

TEST(TextStream, AnyCuttingGivesTheTextOfTheWhole) {
  constexpr uint32_t kSeed = 1;
  RandomText random(kSeed);
  int num_stopped = 0;
  for (int round = 0; round < 4000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    std::vector<std::string> stops(random.Below(4));
    for (std::string& stop : stops) stop = random.Characters(1 + random.Below(5));
    const std::string bytes = random.Bytes(random.Below(40));
    const std::string expected = WholeText(bytes, stops);
    for (int cutting = 0; cutting < 3; ++cutting) {
      const Pieces pieces = random.Cut(bytes);
      const Streamed streamed = Stream(pieces, {.stops = stops});
      ASSERT_EQ(streamed.Text(), expected);
      for (const std::string& given : streamed.given) ASSERT_TRUE(IsValidUtf8(given));
      num_stopped += streamed.stop ? 1 : 0;
      // Before the end nothing is held back that could go out.
      std::string so_far;
      std::string given;
      for (size_t i = 0; i < pieces.size(); ++i) {
        so_far += pieces[i];
        given += streamed.given[i];
        if (given == expected) break;
        const std::string text =
            ReplaceInvalidUtf8(std::string_view(so_far).substr(0, so_far.size() - IncompleteUtf8Suffix(so_far)));
        ASSERT_EQ(given.size() + MustHold(text, stops), text.size());
      }
    }
  }
  EXPECT_GT(num_stopped, 1000);
}

}  // namespace
}  // namespace adit::engine
