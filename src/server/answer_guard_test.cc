#include "server/answer_guard.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/rng.h"
#include "guard/rules_file.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Kind = OutputDelta::Kind;

const guard::Rules& TestRules() {
  static const auto kRules = guard::ParseRules(
      "[[rule]]\nname='mail'\naction='redact'\npii='email'\n"
      "[[rule]]\nname='word'\naction='block'\nwords=['forbidden']\n"
      "[[rule]]\nname='number'\naction='flag'\nregex='[0-9]+'\n",
      "rules.toml", "");
  EXPECT_TRUE(kRules.ok());
  return **kRules;
}

OutputWish Wish() {
  return {.tools = ToolSyntax::kHermes, .reasoning = ReasoningSyntax::kThink, .tool_names = {"send"}};
}

// What clients put together of an answer that came in pieces.
struct Told {
  std::string content;
  std::string thoughts;
  std::string calls;
  bool blocked = false;
  std::string verdicts;
  bool operator==(const Told&) const = default;
};

Told Guarded(std::string_view text, const std::function<size_t(size_t)>& piece) {
  const auto parser = MakeOutputParser(Wish());
  AnswerGuard guard(TestRules());
  std::vector<OutputDelta> out;
  for (size_t at = 0; at < text.size() && !guard.blocked();) {
    std::vector<OutputDelta> deltas;
    const size_t length = piece(at);
    parser->Append(text.substr(at, length), deltas);
    guard.Take(deltas, out);
    at += length;
  }
  if (!guard.blocked()) {
    std::vector<OutputDelta> deltas;
    parser->Finish(deltas);
    guard.Take(deltas, out);
  }
  guard.Finish(out);
  Told told{.blocked = guard.blocked(), .verdicts = VerdictsJson(guard.verdicts()).dump()};
  for (const OutputDelta& delta : out) {
    if (delta.kind == Kind::kContent) told.content += delta.text;
    if (delta.kind == Kind::kReasoning) told.thoughts += delta.text;
    if (delta.kind == Kind::kToolCall) told.calls += delta.name + delta.text;
  }
  return told;
}

Told Whole(std::string_view text) {
  return Guarded(text, [text](size_t) { return text.size(); });
}

constexpr const char* kAnswer =
    "<think>ask ann@example.org or 12</think>Write to bob@example.org.\n<tool_call>\n"
    "{\"name\": \"send\", \"arguments\": {\"to\": \"carl@example.org\", \"text\": \"hello\", \"n\": 3}}\n</tool_call>";

TEST(AnswerGuard, ContentThoughtsAndCallsPassByTheRules) {
  const Told told = Whole(kAnswer);
  EXPECT_EQ(told.thoughts, "ask [mail] or 12");
  EXPECT_EQ(told.content.substr(0, 16), "Write to [mail].");
  EXPECT_EQ(told.calls, R"(send{"to":"[mail]","text":"hello","n":3})");
  EXPECT_FALSE(told.blocked);
  const OrderedJson verdicts = OrderedJson::parse(told.verdicts);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0],
            OrderedJson::parse(R"({"rule":"mail","kind":"pii","action":"redact","side":"output","count":3})"));
  EXPECT_EQ(verdicts[1]["count"], 1);
}

TEST(AnswerGuard, ABlockEndsTheAnswerWhereverItIsFound) {
  const Told content = Whole("A forbidden word, ann@example.org");
  EXPECT_EQ(content.content, "A ");
  EXPECT_TRUE(content.blocked);
  EXPECT_TRUE(Whole("<think>forbidden</think>x").blocked);
  const Told call =
      Whole("So:<tool_call>\n{\"name\": \"send\", \"arguments\": {\"a\": [\"x forb\\u0069dden\"]}}\n</tool_call>");
  EXPECT_TRUE(call.blocked) << "escapes hide nothing";
  EXPECT_EQ(call.calls, "");
  EXPECT_EQ(call.content, "So:");
}

TEST(AnswerGuard, HoweverAnAnswerIsCutItIsTheSame) {
  const std::string texts[] = {
      kAnswer,
      "<think>a forbidden",
      "one forbid<tool_call>\n{\"name\": \"send\", \"arguments\": {}}\n</tool_call>den ann@ex",
      "a@b.org<tool_call>\n{\"name\": \"send\", \"arguments\": {\"x\": \"a@b.org\"}}\n</tool_call>, a@b.or",
      "<think>x@y.org</think>x@y.org 17 forbiddenx forbidden",
      "no rule finds anything in this"};
  for (const std::string& text : texts) {
    const Told whole = Whole(text);
    for (uint64_t seed = 0; seed < 60; ++seed) {
      const auto piece = [seed](size_t at) { return size_t{1} + (seed == 0 ? 0 : RandomBits(seed, at) % (seed + 1)); };
      ASSERT_EQ(Guarded(text, piece), whole) << text << " " << seed;
    }
  }
}

TEST(AnswerGuard, ArgumentsThatAreNoJsonAreOneText) {
  std::vector<guard::Verdict> verdicts;
  std::string text = "{\"a\": a@b.org";
  EXPECT_TRUE(GuardJsonText(TestRules(), guard::Side::kOutput, text, verdicts));
  EXPECT_EQ(text, "{\"a\": [mail]");
  text = "{\"b\" : 1.50,  \"a\":\"x\"}";
  EXPECT_TRUE(GuardJsonText(TestRules(), guard::Side::kOutput, text, verdicts));
  EXPECT_EQ(text, "{\"b\" : 1.50,  \"a\":\"x\"}") << "left as it was written";
  text = std::string(100'000, '[') + "a@b.org";
  EXPECT_TRUE(GuardJsonText(TestRules(), guard::Side::kOutput, text, verdicts));
  EXPECT_TRUE(text.ends_with("[[mail]"));
}

}  // namespace
}  // namespace adit::server
