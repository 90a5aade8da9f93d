#include "server/output_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace adit::server {
namespace {

// Deltas as one text: neighbours of a kind joined, so that it does not show how they came.
std::string Told(const std::vector<OutputDelta>& deltas) {
  std::vector<OutputDelta> joined;
  for (const OutputDelta& delta : deltas) {
    if (delta.kind == OutputDelta::Kind::kToolCall) {
      joined.push_back(delta);
    } else {
      AddText(delta.kind, delta.text, joined);
    }
  }
  std::string text;
  for (const OutputDelta& delta : joined) {
    if (delta.kind == OutputDelta::Kind::kContent) text += "C[" + delta.text + "]";
    if (delta.kind == OutputDelta::Kind::kReasoning) text += "R[" + delta.text + "]";
    if (delta.kind == OutputDelta::Kind::kToolCall) text += "T[" + delta.name + delta.text + "]";
  }
  return text;
}

std::string Parse(const OutputWish& wish, const std::vector<std::string>& pieces) {
  const std::unique_ptr<OutputParser> parser = MakeOutputParser(wish);
  std::vector<OutputDelta> deltas;
  for (const std::string& piece : pieces) parser->Append(piece, deltas);
  parser->Finish(deltas);
  return Told(deltas);
}

const OutputWish kThink{.reasoning = ReasoningSyntax::kThink};
const OutputWish kOpened{.reasoning = ReasoningSyntax::kOpenedThink};
const OutputWish kHermes{.tools = ToolSyntax::kHermes};
const OutputWish kLlama{.tools = ToolSyntax::kLlama3};
const OutputWish kMistral{.tools = ToolSyntax::kMistral};
const OutputWish kBoth{.tools = ToolSyntax::kHermes, .reasoning = ReasoningSyntax::kThink};

TEST(OutputParser, NothingIsWishedOfPlainText) { EXPECT_EQ(MakeOutputParser({}), nullptr); }

TEST(OutputParser, ThoughtsStandBeforeTheAnswer) {
  EXPECT_EQ(Parse(kThink, {"<think>\nhm, <b>\n</think>\n\nyes </think>"}), "R[hm, <b>]C[yes </think>]");
  EXPECT_EQ(Parse(kThink, {" \n<think></think>x"}), "C[x]");
  EXPECT_EQ(Parse(kThink, {"no <think>"}), "C[no <think>]");
  EXPECT_EQ(Parse(kThink, {"<thin"}), "C[<thin]");
  EXPECT_EQ(Parse(kThink, {"<think>cut off </thi"}), "R[cut off </thi]");
  EXPECT_EQ(Parse(kOpened, {"hm</think>yes"}), "R[hm]C[yes]");
  EXPECT_EQ(Parse(kOpened, {"a < b </ c <</think>d"}), "R[a < b </ c <]C[d]");
}

TEST(OutputParser, HermesCallsStandAmongText) {
  EXPECT_EQ(Parse(kHermes, {"Let me see.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1, \"b\": [2]}}\n"
                            "</tool_call>\n<tool_call>{\"name\":\"g\"}</tool_call>\n"}),
            "C[Let me see.]T[f{\"a\":1,\"b\":[2]}]T[g{}]");
  // The closing mark may be missing where the answer was cut off.
  EXPECT_EQ(Parse(kHermes, {"<tool_call>{\"name\":\"g\",\"arguments\":\"{\\\"x\\\":1}\"}"}), "T[g{\"x\":1}]");
  EXPECT_EQ(Parse(kHermes, {"plain < text <tool_ "}), "C[plain < text <tool_ ]");
}

TEST(OutputParser, WhatIsNoCallIsContent) {
  for (const char* text :
       {"<tool_call>nonsense</tool_call>", "<tool_call>{\"name\":5}</tool_call>", "a <tool_call>{\"name\":\"f\"",
        "<tool_call>{\"name\":\"f\",\"arguments\":[1]}</tool_call> b", "<tool_call></tool_call>"}) {
    EXPECT_EQ(Parse(kHermes, {text}), "C[" + std::string(text) + "]");
  }
  const std::string deep = "<tool_call>" + std::string(100000, '[') + "</tool_call>";
  EXPECT_EQ(Parse(kHermes, {deep}), "C[" + deep + "]");
  EXPECT_EQ(Parse(kLlama, {"{\"name\": \"f\""}), "C[{\"name\": \"f\"]");
  EXPECT_EQ(Parse(kLlama, {"{\"a\": 1}"}), "C[{\"a\": 1}]");
  EXPECT_EQ(Parse(kMistral, {"[TOOL_CALLS] none"}), "C[[TOOL_CALLS] none]");
}

TEST(OutputParser, LlamaCallsAreTheWholeText) {
  EXPECT_EQ(Parse(kLlama, {"{\"name\": \"f\", \"parameters\": {\"q\": \"}\"}}"}), "T[f{\"q\":\"}\"}]");
  EXPECT_EQ(Parse(kLlama, {" <|python_tag|>{\"name\":\"f\",\"parameters\":{}}; {\"name\":\"g\",\"arguments\":{}}"}),
            "T[f{}]T[g{}]");
  EXPECT_EQ(Parse(kLlama, {"Use {\"name\": \"f\"}"}), "C[Use {\"name\": \"f\"}]");
}

TEST(OutputParser, MistralCallsFollowAMark) {
  EXPECT_EQ(Parse(kMistral, {"[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{\"a\":1}},{\"name\":\"g\"}]"}),
            "T[f{\"a\":1}]T[g{}]");
  EXPECT_EQ(Parse(kMistral, {"Well [1] [TOOL_CALLS] [{\"name\":\"f\"}]"}), "C[Well [1] ]T[f{}]");
}

TEST(OutputParser, OfSeveralCallsOneIsToldIfNoMoreAreWanted) {
  OutputWish one = kHermes;
  one.parallel_calls = false;
  EXPECT_EQ(Parse(one, {"<tool_call>{\"name\":\"f\"}</tool_call><tool_call>{\"name\":\"g\"}</tool_call>"}), "T[f{}]");
}

// The law of streams: how a text is cut into pieces does not show.
TEST(OutputParser, CutsDoNotShow) {
  const OutputWish wishes[] = {kThink, kOpened, kHermes, kLlama, kMistral, kBoth};
  const std::string words[] = {"<think>",
                               "</think>",
                               "<tool_call>",
                               "</tool_call>",
                               "[TOOL_CALLS]",
                               "<|python_tag|>",
                               "{\"name\":\"f\",\"arguments\":{\"a\":\"<\"}}",
                               "[{\"name\":\"g\"}]",
                               "\n",
                               " ",
                               "<",
                               "[",
                               "tool_call>",
                               "{",
                               "}",
                               "h\xC3\xA9",
                               ";",
                               "text"};
  std::mt19937 rng(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (uint32_t i = rng() % 9; i > 0; --i) text += words[rng() % std::size(words)];
    for (const OutputWish& wish : wishes) {
      const std::string whole = Parse(wish, {text});
      std::vector<std::string> bytes;
      for (const char byte : text) bytes.emplace_back(1, byte);
      ASSERT_EQ(Parse(wish, bytes), whole) << text;
      std::vector<std::string> pieces;
      for (size_t at = 0; at < text.size();) {
        const size_t length = 1 + rng() % 12;
        pieces.push_back(text.substr(at, length));
        at += length;
      }
      ASSERT_EQ(Parse(wish, pieces), whole) << text;
    }
  }
}

TEST(OutputParser, LongTextsTakeLinearTime) {
  const std::string spaces(2'000'000, ' ');
  for (const OutputWish& wish : {kThink, kOpened, kHermes, kLlama, kMistral, kBoth}) (void)Parse(wish, {spaces});
}

TEST(OutputFormat, FollowsTheTemplate) {
  EXPECT_EQ(FormatOfTemplate("... <tool_call> ... </think>").tools, ToolSyntax::kHermes);
  EXPECT_EQ(FormatOfTemplate("... <tool_call> ... </think>").reasoning, ReasoningSyntax::kThink);
  EXPECT_EQ(FormatOfTemplate("[TOOL_CALLS]").tools, ToolSyntax::kMistral);
  EXPECT_EQ(FormatOfTemplate("<|python_tag|>").tools, ToolSyntax::kLlama3);
  EXPECT_EQ(FormatOfTemplate("{{ messages }}").tools, ToolSyntax::kNone);
  EXPECT_FALSE(ParseToolSyntax("pythonic").ok());
}

}  // namespace
}  // namespace adit::server
