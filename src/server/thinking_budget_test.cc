#include "server/thinking_budget.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "grammar/compiler.h"
#include "grammar/grammar.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

class ThinkingBudgetTest : public testing::Test {
 protected:
  GrammarPtr Make(int64_t tokens, ReasoningSyntax syntax = ReasoningSyntax::kThink) const {
    Result<GrammarPtr> grammar = MakeThinkingBudget({.tokens = tokens, .syntax = syntax}, tokenizer_);
    EXPECT_TRUE(grammar.ok()) << grammar.status().message();
    return *grammar;
  }
  // What a model that wants to write `text` and ends for nothing comes to write.
  std::string Written(const GrammarPtr& grammar, std::string_view text, size_t most = 200) const {
    const auto matcher = grammar->NewMatcher();
    std::vector<uint32_t> mask(grammar::MaskWords(grammar->vocab_size()));
    std::string written;
    while (written.size() < most) {
      const bool masks = *matcher->FillMask(mask);
      const auto allowed = [&](size_t token) { return !masks || ((mask[token / 32] >> (token % 32)) & 1) != 0; };
      size_t token = 0;
      if (!text.empty() && allowed(static_cast<unsigned char>(text.front()))) {
        token = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
      } else if (text.empty() && !masks) {
        return written;
      } else {
        while (token < 256 && !allowed(token)) ++token;
        if (token == 256) return written;
      }
      EXPECT_TRUE(*matcher->Accept(static_cast<int32_t>(token)));
      EXPECT_TRUE(token < 256);
      written += static_cast<char>(token);
    }
    return written;
  }

  const ByteTokenizer tokenizer_{/*adds_bos=*/false, /*adds_eos=*/false};
};

TEST_F(ThinkingBudgetTest, EndsThoughtsThatAreTooLong) {
  EXPECT_EQ(Written(Make(3), "<think>abcdef"), "<think>abc</think>def");
  EXPECT_EQ(Written(Make(3), " \n<think>abcdef"), " \n<think>abc</think>def");
  EXPECT_EQ(Written(Make(0), "<think>ab"), "<think></think>ab");
  EXPECT_EQ(Written(Make(2, ReasoningSyntax::kOpenedThink), "abc"), "ab</think>c");
  EXPECT_EQ(Written(Make(0, ReasoningSyntax::kOpenedThink), "abc"), "</think>abc");
  EXPECT_EQ(Written(Make(2, ReasoningSyntax::kGranite), "Here is my thought process:abc"),
            "Here is my thought process:abHere is my response:c");
}

TEST_F(ThinkingBudgetTest, LeavesOthersAlone) {
  EXPECT_EQ(Written(Make(20), "<think>abc</think>the rest is long, and free"),
            "<think>abc</think>the rest is long, and free");
  EXPECT_EQ(Written(Make(1), "no thoughts, <think> in the middle"), "no thoughts, <think> in the middle");
  EXPECT_EQ(Written(Make(1), "<thin air"), "<thin air");
}

TEST_F(ThinkingBudgetTest, IsNotCompleteWhileItCloses) {
  const auto matcher = Make(1, ReasoningSyntax::kOpenedThink)->NewMatcher();
  EXPECT_TRUE(matcher->complete());
  ASSERT_TRUE(*matcher->Accept('a'));
  EXPECT_FALSE(matcher->complete());
  EXPECT_FALSE(*matcher->Accept('b'));
  for (const char c : std::string_view("</think>")) ASSERT_TRUE(*matcher->Accept(c));
  EXPECT_TRUE(matcher->complete());
}

TEST_F(ThinkingBudgetTest, GoesWithAGrammarOfTheText) {
  if (!grammar::Compiler::available()) GTEST_SKIP() << "this build has no XGrammar";
  grammar::Compiler compiler(tokenizer_);
  const Result<GrammarPtr> digits =
      compiler.Compile({.kind = GrammarKind::kRegex, .text = "[0-9]{2}", .thoughts = GrammarThoughts::kOpened});
  ASSERT_TRUE(digits.ok()) << digits.status().message();
  const GrammarPtr budget = Make(2, ReasoningSyntax::kOpenedThink);
  EXPECT_TRUE(IsBudgetAlone(budget));
  const GrammarPtr both = WithThinkingBudget(budget, *digits);
  EXPECT_FALSE(IsBudgetAlone(both));
  EXPECT_EQ(Written(both, "ab12", 12), "ab</think>12");
  EXPECT_EQ(WithThinkingBudget(nullptr, *digits), *digits);
  EXPECT_FALSE(IsBudgetAlone(nullptr));
}

TEST_F(ThinkingBudgetTest, RefusesAModelWithoutThoughts) {
  EXPECT_EQ(MakeThinkingBudget({.tokens = 1, .syntax = ReasoningSyntax::kNone}, tokenizer_).status().code(),
            StatusCode::kUnsupported);
}

}  // namespace
}  // namespace adit::server
