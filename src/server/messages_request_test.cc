#include "server/messages_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace adit::server {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json ChatOf(const std::string& body) {
  auto read = ChatOfMessages(Json::parse(body), MessagesUse::kAnswer);
  EXPECT_TRUE(std::holds_alternative<ChatBody>(read)) << std::get<ApiError>(read).message;
  return *std::get<ChatBody>(read).body;
}
ApiError ErrorOf(const std::string& body) {
  return std::get<ApiError>(ChatOfMessages(Json::parse(body), MessagesUse::kAnswer));
}
std::string With(const std::string& fields) {
  return R"({"max_tokens": 8, "messages": [{"role": "user", "content": "hi"}], )" + fields + "}";
}

TEST(MessagesRequest, FieldsGetTheirNamesInChats) {
  const Json chat = ChatOf(With(R"("system": "be short", "temperature": 0.5, "top_p": 0.9, "top_k": 5,
      "stop_sequences": ["x"], "stream": true, "seed": 3)"));
  EXPECT_EQ(chat["max_tokens"], 8);
  EXPECT_EQ(chat["temperature"], 0.5);
  EXPECT_EQ(chat["top_k"], 5);
  EXPECT_EQ(chat["stop"], Json({"x"}));
  EXPECT_EQ(chat["stream"], true);
  EXPECT_EQ(chat["seed"], 3);
  EXPECT_EQ(chat["messages"], Json::parse(R"([{"role": "system", "content": [{"type": "text", "text": "be short"}]},
      {"role": "user", "content": [{"type": "text", "text": "hi"}]}])"));
  EXPECT_EQ(chat["include_reasoning"], false);
  EXPECT_EQ(chat["reasoning_effort"], "none");
}

TEST(MessagesRequest, ToolsAndTheirResultsBecomeCallsAndMessages) {
  const Json chat = ChatOf(R"({"max_tokens": 8, "tools": [{"name": "f", "description": "d", "input_schema": {"a": 1}}],
      "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
      "messages": [{"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
          {"type": "text", "text": "I look"}, {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "42"},
          {"type": "text", "text": "and?"}]}]})");
  EXPECT_EQ(
      chat["tools"],
      Json::parse(R"([{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"a": 1}}}])"));
  EXPECT_EQ(chat["tool_choice"], "required");
  EXPECT_EQ(chat["parallel_tool_calls"], false);
  const Json& messages = chat["messages"];
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[1]["reasoning_content"], "hm");
  EXPECT_EQ(messages[1]["tool_calls"][0]["function"]["arguments"], R"({"x":1})");
  EXPECT_EQ(messages[2]["role"], "tool");
  EXPECT_EQ(messages[2]["tool_call_id"], "t1");
  EXPECT_EQ(messages[2]["content"][0]["text"], "42");
  EXPECT_EQ(messages[3]["content"][0]["text"], "and?");
  EXPECT_EQ(ChatOf(With(R"("tool_choice": {"type": "tool", "name": "f"})"))["tool_choice"],
            Json::parse(R"({"type": "function", "function": {"name": "f"}})"));
}

TEST(MessagesRequest, TurnsOfOneRoleBecomeOneAndTheAssistantsLastIsGoneOnFrom) {
  const Json chat = ChatOf(R"({"max_tokens": 8, "messages": [{"role": "user", "content": "a"},
      {"role": "user", "content": [{"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}]},
      {"role": "assistant", "content": "The answer is"}]})");
  ASSERT_EQ(chat["messages"].size(), 2U);
  EXPECT_EQ(chat["messages"][0]["content"].size(), 2U);
  EXPECT_EQ(chat["continue_final_message"], true);
  EXPECT_EQ(chat["add_generation_prompt"], false);
}

TEST(MessagesRequest, ThinkingBecomesEffort) {
  const std::string start = R"({"max_tokens": 40000, "messages": [{"role": "user", "content": "hi"}], "thinking": )";
  const Json chat = ChatOf(start + R"({"type": "enabled", "budget_tokens": 2000}})");
  EXPECT_EQ(chat["include_reasoning"], true);
  EXPECT_EQ(chat["reasoning_effort"], "low");
  EXPECT_EQ(ChatOf(start + R"({"type": "enabled", "budget_tokens": 20000}})")["reasoning_effort"], "high");
  EXPECT_EQ(ChatOf(start + R"({"type": "disabled"}})")["include_reasoning"], false);
  const auto read =
      ChatOfMessages(Json::parse(start + R"({"type": "enabled", "budget_tokens": 2000}})"), MessagesUse::kAnswer);
  EXPECT_EQ((*std::get<ChatBody>(read).body)["thinking_token_budget"], 2000);
  EXPECT_EQ(ErrorOf(start + R"({"type": "enabled", "budget_tokens": 100}})").param, "thinking.budget_tokens");
  EXPECT_EQ(ErrorOf(start + R"({"type": "enabled", "budget_tokens": 40000}})").param, "thinking.budget_tokens");
  EXPECT_EQ(ErrorOf(start + R"({"type": "enabled"}})").param, "thinking.budget_tokens");
}

TEST(MessagesRequest, WhatIsWrongIsNamed) {
  struct Case {
    std::string body;
    const char* code;
    const char* param;
  };
  for (const Case& c :
       {Case{R"({"messages": [{"role": "user", "content": "hi"}]})", "missing_required_parameter", "max_tokens"},
        Case{R"({"max_tokens": 0, "messages": [{"role": "user", "content": "hi"}]})", "invalid_value", "max_tokens"},
        Case{R"({"max_tokens": 8})", "missing_required_parameter", "messages"},
        Case{R"({"max_tokens": 8, "messages": []})", "invalid_value", "messages"},
        Case{R"({"max_tokens": 8, "messages": [{"role": "system", "content": "x"}]})", "invalid_value",
             "messages[0].role"},
        Case{R"({"max_tokens": 8, "messages": [{"role": "user"}]})", "missing_required_parameter",
             "messages[0].content"},
        Case{R"({"max_tokens": 8, "messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]})",
             "unsupported_parameter", "messages[0].content[0].type"},
        Case{R"({"max_tokens": 8, "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]})",
             "missing_required_parameter", "messages[0].content[0].tool_use_id"},
        Case{With(R"("temperature": 1.5)"), "invalid_value", "temperature"},
        Case{With(R"("tools": [{"type": "web_search_20250305", "name": "web_search"}])"), "unsupported_parameter",
             "tools[0].type"},
        Case{With(R"("tools": [{"name": "f"}])"), "missing_required_parameter", "tools[0].input_schema"},
        Case{With(R"("tool_choice": {"type": "tool"})"), "missing_required_parameter", "tool_choice.name"},
        Case{With(R"("mcp_servers": [{"url": "x"}])"), "unsupported_parameter", "mcp_servers"},
        Case{With(R"("system": [{"type": "image"}])"), "unsupported_parameter", "system[0]"}}) {
    const ApiError error = ErrorOf(c.body);
    EXPECT_EQ(error.code, c.code) << c.body;
    EXPECT_EQ(error.param, c.param) << c.body;
  }
}

TEST(MessagesRequest, CountingNeedsNoLength) {
  const auto read =
      ChatOfMessages(Json::parse(R"({"messages": [{"role": "user", "content": "hi"}]})"), MessagesUse::kCount);
  EXPECT_TRUE(std::holds_alternative<ChatBody>(read));
}

TEST(MessagesRequest, ErrorsOfTheChatSpeakOfItsOwnFields) {
  ApiError error{.message = "'stop[0]' has 0 bytes; it has 1 to 256", .param = "stop[0]"};
  RenameForMessages(error);
  EXPECT_EQ(error.param, "stop_sequences[0]");
  EXPECT_THAT(error.message, HasSubstr("'stop_sequences[0]' has 0 bytes"));
}

}  // namespace
}  // namespace adit::server
