#include "server/output_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace adit::server {
namespace {

// Deltas as one text: neighbours of a kind joined, so that it does not show how they came.
std::string ToldBy(const std::vector<OutputDelta>& deltas) {
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
  return ToldBy(deltas);
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

const OutputWish kPythonic{.tools = ToolSyntax::kPythonic};
const OutputWish kDeepSeek{.tools = ToolSyntax::kDeepSeek, .reasoning = ReasoningSyntax::kThink};
const OutputWish kCommand{.tools = ToolSyntax::kCommandR, .reasoning = ReasoningSyntax::kCommandR};
const OutputWish kGranite{.tools = ToolSyntax::kGranite, .reasoning = ReasoningSyntax::kGranite};
const OutputWish kGemma{.tools = ToolSyntax::kGemma};
const OutputWish kHarmony{.tools = ToolSyntax::kHarmony, .reasoning = ReasoningSyntax::kHarmony};

// As in Meta's description of Llama 3.2 and 4.
TEST(OutputParser, PythonicCallsAreTheWholeText) {
  EXPECT_EQ(Parse(kPythonic, {"[get_weather(city='San Francisco', metric=\"celsius\"), a.b()]"}),
            "T[get_weather{\"city\":\"San Francisco\",\"metric\":\"celsius\"}]T[a.b{}]");
  EXPECT_EQ(Parse(kPythonic,
                  {"<|python_start|>[f(a=-1.5, b=[True, None, (1, 2)], c={'k': 'it\\'s \\u00e4'})]<|python_end|>"}),
            "T[f{\"a\":-1.5,\"b\":[true,null,[1,2]],\"c\":{\"k\":\"it's ä\"}}]");
  for (const char* text :
       {"[f(1)]", "[f(a=1)", "[f(a=1)] and more", "[1, 2]", "[f(a=__import__)]", "f(a=1)", "[]", "[f(a='x)]"}) {
    EXPECT_EQ(Parse(kPythonic, {text}), std::string("C[") + text + "]");
  }
}

// As the templates of DeepSeek V3 and R1, and of V3.1, write them.
TEST(OutputParser, DeepSeekCallsStandBehindTheText) {
  EXPECT_EQ(
      Parse(kDeepSeek, {"<think>hm</think>Look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n"
                        "```json\n{\"a\": 1}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n"
                        "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"}),
      "R[hm]C[Look.]T[f{\"a\":1}]T[g{}]");
  EXPECT_EQ(
      Parse(kDeepSeek, {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\":\"<\"}<｜tool▁call▁end｜>"
                        "<｜tool▁calls▁end｜>"}),
      "T[f{\"a\":\"<\"}]");
  EXPECT_EQ(Parse(kDeepSeek, {"<｜tool▁calls▁begin｜>no"}), "C[<｜tool▁calls▁begin｜>no]");
}

// As Cohere describes Command R7B.
TEST(OutputParser, CommandCallsAreActions) {
  EXPECT_EQ(Parse(kCommand, {"<|START_THINKING|>I will look.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": "
                             "\"0\", \"tool_name\": \"f\", \"parameters\": {\"a\": \"b\"}}\n]<|END_ACTION|>"}),
            "R[I will look.]T[f{\"a\":\"b\"}]");
  EXPECT_EQ(Parse(kCommand, {"<|START_RESPONSE|>It is < 5.<|END_RESPONSE|>"}), "C[It is < 5.]");
}

// As IBM's Granite 3 writes them.
TEST(OutputParser, GraniteCallsAreTheWholeText) {
  EXPECT_EQ(Parse(kGranite, {"<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]"}), "T[f{\"a\":1}]");
  EXPECT_EQ(Parse(kGranite, {"Here is my thought process: hm\n\nHere is my response: yes"}), "R[hm]C[yes]");
  EXPECT_EQ(Parse(kGranite, {"Here is the answer."}), "C[Here is the answer.]");
}

// As Google describes FunctionGemma.
TEST(OutputParser, GemmaCallsHaveValuesOfTheirOwn) {
  EXPECT_EQ(Parse(kGemma, {"<start_function_call>call:get_weather{city:<escape>New \"York\"<escape>,days:[1,2.5],o:{x:"
                           "true}}<end_function_call>"}),
            "T[get_weather{\"city\":\"New \\\"York\\\"\",\"days\":[1,2.5],\"o\":{\"x\":true}}]");
  EXPECT_EQ(Parse(kGemma, {"<start_function_call>call:f{a}<end_function_call>"}),
            "C[<start_function_call>call:f{a}<end_function_call>]");
}

// As OpenAI's description of the Harmony format has them; the tokens that end an answer are no part of its text.
TEST(OutputParser, HarmonyMessagesHaveChannels) {
  EXPECT_EQ(Parse(kHarmony, {"<|channel|>analysis<|message|>User asks 2 + 2.<|end|><|start|>assistant<|channel|>final"
                             "<|message|>2 + 2 < 5"}),
            "R[User asks 2 + 2.]C[2 + 2 < 5]");
  EXPECT_EQ(Parse(kHarmony, {"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary "
                             "to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"SF\"}"}),
            "R[hm]T[get_weather{\"city\":\"SF\"}]");
  EXPECT_EQ(Parse(kHarmony, {" to=functions.f<|channel|>commentary json<|message|>{}<|call|>"}), "T[f{}]");
  EXPECT_EQ(Parse(kHarmony, {"<|channel|>commentary<|message|>Let me see.<|end|>"}), "C[Let me see.]");
  EXPECT_EQ(Parse(kHarmony, {"plain <|end"}), "C[plain <|end]");
}

// The law of streams: how a text is cut into pieces does not show.
TEST(OutputParser, CutsDoNotShow) {
  std::vector<OutputWish> wishes;
  for (size_t tools = 0; tools < kNumToolSyntaxes; ++tools) {
    for (size_t reasoning = 0; reasoning < kNumReasoningSyntaxes; ++reasoning) {
      if (tools + reasoning == 0) continue;
      wishes.push_back({.tools = static_cast<ToolSyntax>(tools), .reasoning = static_cast<ReasoningSyntax>(reasoning)});
    }
  }
  const std::string words[] = {"<think>",
                               "</think>",
                               "<tool_call>",
                               "</tool_call>",
                               "[TOOL_CALLS]",
                               "<|python_tag|>",
                               "<|python_start|>[f(a=1)]",
                               "<｜tool▁calls▁begin｜>",
                               "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
                               "<｜tool▁calls▁end｜>",
                               "<|START_THINKING|>",
                               "<|END_THINKING|>",
                               "<|START_RESPONSE|>",
                               "<|END_RESPONSE|>",
                               "<|START_ACTION|>",
                               "<|END_ACTION|>",
                               "<|tool_call|>",
                               "<start_function_call>call:f{a:1}",
                               "<end_function_call>",
                               "<|channel|>analysis<|message|>",
                               "<|channel|>final<|message|>",
                               "<|channel|>commentary to=functions.f<|message|>{}",
                               "<|end|>",
                               "<|start|>assistant",
                               "Here is my thought process:",
                               "Here is my response:",
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
  for (int round = 0; round < 1500; ++round) {
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
  EXPECT_EQ(FormatOfTemplate("<|channel|> <tool_call>").tools, ToolSyntax::kHarmony);
  EXPECT_EQ(FormatOfTemplate("<｜tool▁calls▁begin｜> </think>").tools, ToolSyntax::kDeepSeek);
  EXPECT_EQ(FormatOfTemplate("<|START_THINKING|>").reasoning, ReasoningSyntax::kCommandR);
  EXPECT_EQ(FormatOfTemplate("<start_function_call>").tools, ToolSyntax::kGemma);
  EXPECT_EQ(FormatOfTemplate("<|tool_call|>").tools, ToolSyntax::kGranite);
  EXPECT_EQ(*ParseToolSyntax("pythonic"), ToolSyntax::kPythonic);
  EXPECT_EQ(*ParseReasoningSyntax("harmony"), ReasoningSyntax::kHarmony);
  EXPECT_FALSE(ParseToolSyntax("what").ok());
  EXPECT_TRUE(WritesControlTokens(ToolSyntax::kDeepSeek, ReasoningSyntax::kNone));
  EXPECT_FALSE(WritesControlTokens(ToolSyntax::kHermes, ReasoningSyntax::kThink));
}

}  // namespace
}  // namespace adit::server
