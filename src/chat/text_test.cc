#include "chat/text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "chat/string_ops.h"

namespace adit::chat {
namespace {

// A string with the trust of every byte: what Str is compared with.
struct Model {
  std::string text;
  std::vector<bool> untrusted;
};

Model ToModel(const Str& str) {
  Model model{std::string(str.view()), {}};
  bool untrusted = str.untrusted;
  size_t next_cut = 0;
  for (size_t i = 0; i < str.size; ++i) {
    if (next_cut < str.num_cuts && str.cuts[next_cut] == str.data + i) {
      untrusted = !untrusted;
      ++next_cut;
    }
    model.untrusted.push_back(untrusted);
  }
  EXPECT_EQ(next_cut, str.num_cuts);
  return model;
}

void ExpectSame(const Str& str, const Model& model) {
  const Model actual = ToModel(str);
  EXPECT_EQ(actual.text, model.text);
  EXPECT_EQ(actual.untrusted, model.untrusted);
}

Model Joined(const Model& left, const Model& right) {
  Model joined = left;
  joined.text += right.text;
  joined.untrusted.insert(joined.untrusted.end(), right.untrusted.begin(), right.untrusted.end());
  return joined;
}

Model Part(const Model& whole, size_t begin, size_t end) {
  return {
      whole.text.substr(begin, end - begin),
      {whole.untrusted.begin() + static_cast<ptrdiff_t>(begin), whole.untrusted.begin() + static_cast<ptrdiff_t>(end)}};
}

TEST(Text, ConcatAndSubAgreeWithAPlainModel) {
  std::mt19937 random(7);
  Heap heap({});
  std::vector<std::pair<const Str*, Model>> pool;
  for (const bool untrusted : {false, true}) {
    for (const char* text : {"", "a", "bc", "def"}) {
      const Str* str = NewStr(heap, text, untrusted);
      pool.emplace_back(str, ToModel(*str));
    }
  }
  for (int step = 0; step < 5000; ++step) {
    const auto& [left, left_model] = pool[random() % pool.size()];
    const auto& [right, right_model] = pool[random() % pool.size()];
    const Str* str = nullptr;
    Model model;
    if (random() % 2 == 0 && left->size + right->size < 200) {
      str = Concat(heap, *left, *right);
      model = Joined(left_model, right_model);
    } else {
      const size_t begin = random() % (left->size + 1);
      const size_t end = begin + random() % (left->size - begin + 1);
      str = NewSub(heap, *left, begin, end);
      model = Part(left_model, begin, end);
    }
    ExpectSame(*str, model);
    if (testing::Test::HasFailure()) return;
    pool.emplace_back(str, std::move(model));
  }
  // Growing in place has left all earlier strings as they were.
  for (const auto& [str, model] : pool) ExpectSame(*str, model);
}

TEST(Text, BuilderAgreesWithConcat) {
  Heap heap({});
  const Str* mixed = Concat(heap, *NewStr(heap, "ab", false), *NewStr(heap, "cd", true));
  StringBuilder builder(heap);
  builder.Append(*mixed);
  builder.Append(*mixed, 1, 3);
  builder.Append("", true);
  builder.AppendChar(U'é', false);
  ExpectSame(*builder.Finish(), {"abcdbcé", {false, false, true, true, false, true, false, false}});
}

TEST(Text, CountsCharsNotBytes) {
  Heap heap({});
  const Str* str = NewStr(heap, "aé🙂z", false);
  EXPECT_FALSE(IsAscii(*str));
  EXPECT_EQ(CountChars(*str), 4);
  EXPECT_EQ(ByteOffset(*str, 2), 3U);
  EXPECT_EQ(ByteOffset(*str, 3), 7U);
  EXPECT_EQ(CharIndex(*str, 7), 3);
  EXPECT_EQ(PreviousChar(str->view(), 7), 3U);
}

TEST(Text, AppendingGrowsInPlace) {
  Heap heap({.max_bytes = 2'000'000, .max_steps = INT64_MAX});
  const Str* text = NewStr(heap, "", false);
  const Str* piece = NewStr(heap, "0123456789", true);
  const Str* comma = NewStr(heap, ",", false);
  for (int i = 0; i < 5000; ++i) text = Concat(heap, *Concat(heap, *text, *piece), *comma);
  EXPECT_FALSE(heap.exhausted());
  EXPECT_EQ(text->size, 55'000U);
  EXPECT_EQ(text->num_cuts, 9'999U);
}

TEST(Text, BuilderStopsAtItsLimit) {
  Heap heap({});
  StringBuilder builder(heap, 10);
  builder.AppendRepeated("abc", 4, false);
  EXPECT_TRUE(heap.exhausted());
  EXPECT_EQ(heap.status().message(), "the template passes the limit on output");
  EXPECT_LE(builder.size(), 10U);
}

TEST(StringOps, CaseMappingKeepsTrust) {
  Heap heap({});
  const Str* mixed = Concat(heap, *NewStr(heap, "aß", false), *NewStr(heap, "ß", true));
  ExpectSame(*ChangeCase(*mixed, LetterCase::kUpper, heap), {"ASSSS", {false, false, false, true, true}});
}

}  // namespace
}  // namespace adit::chat
