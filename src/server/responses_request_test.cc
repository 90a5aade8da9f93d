#include "server/responses_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "server/responses_items.h"

namespace adit::server {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using Json = nlohmann::json;

SharedJson Stored(const std::string& id) {
  if (id != "resp_old") return nullptr;
  return std::make_shared<Json>(Json::parse(R"([
      {"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "weather?"}]},
      {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
      {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}])"));
}

std::variant<ResponsesRequest, ApiError> ReadWith(const std::string& body, ResponsesUse use = ResponsesUse::kAnswer) {
  return ReadResponsesRequest(Json::parse(body), use, "new", &Stored);
}
ResponsesRequest RequestOf(const std::string& body) {
  auto read = ReadWith(body);
  EXPECT_TRUE(std::holds_alternative<ResponsesRequest>(read)) << std::get<ApiError>(read).message;
  return std::get<ResponsesRequest>(read);
}
ApiError ErrorOfBody(const std::string& body) { return std::get<ApiError>(ReadWith(body)); }

TEST(ResponsesRequest, FieldsGetTheirNamesInChats) {
  const ResponsesRequest request = RequestOf(R"({"input": "hi", "instructions": "be short", "max_output_tokens": 9,
      "temperature": 0.5, "top_logprobs": 2, "reasoning": {"effort": "low", "summary": "auto"}, "store": false,
      "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}},
      "metadata": {"a": "b"}, "user": "me", "truncation": "auto", "seed": 4})");
  const Json& chat = *request.chat.body;
  EXPECT_EQ(chat["max_tokens"], 9);
  EXPECT_EQ(chat["logprobs"], true);
  EXPECT_EQ(chat["top_logprobs"], 2);
  EXPECT_EQ(chat["reasoning_effort"], "low");
  EXPECT_EQ(chat["truncate_prompt_tokens"], -1);
  EXPECT_EQ(chat["seed"], 4);
  EXPECT_EQ(
      chat["response_format"],
      Json::parse(
          R"({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}})"));
  EXPECT_EQ(chat["messages"], Json::parse(R"([{"role": "system", "content": "be short"},
      {"role": "user", "content": [{"type": "text", "text": "hi"}]}])"));
  EXPECT_EQ(request.store, false);
  EXPECT_EQ((*request.echo)["metadata"]["a"], "b");
  EXPECT_EQ((*request.echo)["max_output_tokens"], 9);
  EXPECT_THAT(request.chat.ignored, Contains("user"));
  EXPECT_EQ((*request.input)[0]["id"], "msg_new_0");
}

TEST(ResponsesRequest, AConversationGoesOnFromAStoredResponse) {
  const ResponsesRequest request = RequestOf(R"({"previous_response_id": "resp_old", "input": [
      {"type": "function_call_output", "call_id": "c1", "output": "rain"}, {"role": "user", "content": "and?"}]})");
  EXPECT_EQ(request.context->size(), 3U);
  EXPECT_EQ(request.input->size(), 2U);
  const Json& messages = (*request.chat.body)["messages"];
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[1]["role"], "assistant");
  EXPECT_EQ(messages[1]["reasoning_content"], "hm");
  EXPECT_EQ(messages[1]["tool_calls"][0]["id"], "c1");
  EXPECT_EQ(messages[2],
            Json::parse(R"({"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "rain"}]})"));
  EXPECT_EQ(ErrorOfBody(R"({"previous_response_id": "resp_gone", "input": "x"})").code, "previous_response_not_found");
}

TEST(ResponsesRequest, ToolsAndChoicesAreThoseOfChats) {
  const ResponsesRequest request = RequestOf(R"({"input": "hi",
      "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": false}],
      "tool_choice": {"type": "function", "name": "f"}, "parallel_tool_calls": false})");
  const Json& chat = *request.chat.body;
  EXPECT_EQ(chat["tools"][0]["function"]["name"], "f");
  EXPECT_EQ(chat["tool_choice"], Json::parse(R"({"type": "function", "function": {"name": "f"}})"));
  EXPECT_EQ(chat["parallel_tool_calls"], false);
}

TEST(ResponsesRequest, WhatIsWrongOrNotHereIsNamed) {
  struct Case {
    const char* body;
    const char* code;
    const char* param;
  };
  for (const Case& c :
       {Case{R"({})", "missing_required_parameter", "input"}, Case{R"({"input": []})", "invalid_value", "input"},
        Case{R"({"input": 5})", "invalid_type", "input"},
        Case{R"({"input": [{"role": "tool", "content": "x"}]})", "invalid_value", "input[0].role"},
        Case{R"({"input": [{"role": "user"}]})", "missing_required_parameter", "input[0].content"},
        Case{R"({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]})",
             "unsupported_parameter", "input[0].content[0].type"},
        Case{R"({"input": [{"type": "web_search_call"}]})", "unsupported_parameter", "input[0].type"},
        Case{R"({"input": [{"type": "function_call_output", "output": "x"}]})", "missing_required_parameter",
             "input[0].call_id"},
        Case{R"({"input": [{"type": "item_reference", "id": "none"}]})", "invalid_value", "input[0].id"},
        Case{R"({"input": "x", "background": true})", "unsupported_parameter", "background"},
        Case{R"({"input": "x", "conversation": "conv_1"})", "unsupported_parameter", "conversation"},
        Case{R"({"input": "x", "tools": [{"type": "web_search"}]})", "unsupported_parameter", "tools[0].type"},
        Case{R"({"input": "x", "include": ["secrets"]})", "invalid_value", "include[0]"},
        Case{R"({"input": "x", "truncation": "some"})", "invalid_value", "truncation"},
        Case{R"({"input": "x", "metadata": {"a": 1}})", "invalid_type", "metadata.a"}}) {
    const ApiError error = ErrorOfBody(c.body);
    EXPECT_EQ(error.code, c.code) << c.body;
    EXPECT_EQ(error.param, c.param) << c.body;
  }
}

TEST(ResponsesRequest, ErrorsOfTheChatSpeakOfItsOwnFields) {
  ApiError error{.message = "'max_tokens' is -5", .param = "max_tokens"};
  RenameForResponses(error);
  EXPECT_EQ(error.param, "max_output_tokens");
  EXPECT_EQ(error.message, "'max_output_tokens' is -5");
}

TEST(ResponsesRequest, SchemasKeepTheOrderOfTheirMembers) {
  const std::string body = R"({"input": "hi", "tools": [{"type": "function", "name": "f", "parameters":
      {"type": "object", "properties": {"z": {}, "a": {}}}}], "text": {"format": {"type": "json_schema", "name": "n",
      "schema": {"type": "object", "properties": {"y": {}, "b": {}}}}}})";
  const auto none = [](const std::string&) { return SharedJson(); };
  const auto read = ReadResponsesRequest(nlohmann::json::parse(body), ResponsesUse::kAnswer, "id", none);
  ASSERT_TRUE(std::holds_alternative<ResponsesRequest>(read));
  const ChatBody& chat = std::get<ResponsesRequest>(read).chat;
  const std::string text = OrderedResponsesText(chat, body);
  EXPECT_EQ(nlohmann::json::parse(text), *chat.body);
  EXPECT_NE(text.find(R"("properties":{"z":{},"a":{}})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("properties":{"y":{},"b":{}})"), std::string::npos) << text;
}

}  // namespace
}  // namespace adit::server
