#include "server/ollama_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "server/ollama_writer.h"

namespace adit::server {
namespace {

using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;
using Read = std::variant<OllamaBody, ApiError> (*)(const Json&);

OllamaBody BodyOf(Read read, const std::string& text) {
  std::variant<OllamaBody, ApiError> result = read(Json::parse(text));
  const auto* error = std::get_if<ApiError>(&result);
  EXPECT_EQ(error, nullptr) << (error == nullptr ? "" : error->message);
  return error == nullptr ? std::get<OllamaBody>(std::move(result))
                          : OllamaBody{.chat = {std::make_shared<Json>(), {}}};
}

std::string ParamOf(Read read, const std::string& text) {
  const std::variant<OllamaBody, ApiError> result = read(Json::parse(text));
  const auto* error = std::get_if<ApiError>(&result);
  return error == nullptr ? "no error" : error->param;
}

TEST(OllamaRequest, OptionsAreThoseOfChats) {
  const OllamaBody body = BodyOf(&ChatOfOllama, R"({"model": "smol:latest", "keep_alive": "5m",
      "messages": [{"role": "user", "content": "hi"}],
      "options": {"num_predict": 7, "temperature": 0.5, "stop": ["x"], "num_ctx": 4096, "seed": 3}})");
  const Json& chat = *body.chat.body;
  EXPECT_EQ(chat["model"], "smol");
  EXPECT_EQ(chat["stream"], true) << "unless the request says otherwise";
  EXPECT_EQ(chat["max_tokens"], 7);
  EXPECT_EQ(chat["temperature"], 0.5);
  EXPECT_EQ(chat["stop"], Json({"x"}));
  EXPECT_EQ(chat["seed"], 3);
  EXPECT_EQ(chat["messages"], Json::parse(R"([{"role": "user", "content": "hi"}])"));
  EXPECT_THAT(body.chat.ignored, UnorderedElementsAre("options.num_ctx", "keep_alive"));
  EXPECT_FALSE(BodyOf(&ChatOfOllama, R"({"messages": [{"role": "user"}], "options": {"num_predict": -1}})")
                   .chat.body->contains("max_tokens"));
}

TEST(OllamaRequest, CallsHaveTheirArgumentsAsObjects) {
  const OllamaBody body = BodyOf(&ChatOfOllama, R"({"stream": false, "messages": [
      {"role": "assistant", "content": "", "thinking": "hm",
       "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
      {"role": "tool", "tool_name": "f", "content": "2"}]})");
  const Json& messages = (*body.chat.body)["messages"];
  EXPECT_EQ(messages[0]["tool_calls"][0]["function"]["name"], "f");
  EXPECT_EQ(messages[0]["tool_calls"][0]["function"]["arguments"], R"({"a":1})");
  EXPECT_EQ(messages[0]["reasoning_content"], "hm");
  EXPECT_EQ(messages[1]["name"], "f");
}

TEST(OllamaRequest, ThoughtsAndFormats) {
  const auto chat = [](const std::string& fields) {
    return *BodyOf(&ChatOfOllama, R"({"messages": [{"role": "user", "content": ""}], )" + fields + "}").chat.body;
  };
  EXPECT_EQ(chat(R"("think": false)")["reasoning_effort"], "none");
  EXPECT_EQ(chat(R"("think": true)")["include_reasoning"], true);
  EXPECT_EQ(chat(R"("think": "high")")["reasoning_effort"], "high");
  EXPECT_EQ(chat(R"("format": "json")")["response_format"]["type"], "json_object");
  EXPECT_EQ(chat(R"("format": {"type": "object"})")["response_format"]["json_schema"]["schema"]["type"], "object");
  EXPECT_FALSE(chat(R"("format": "")").contains("response_format"));
}

TEST(OllamaRequest, PromptsAreChatsUnlessTheyAreRaw) {
  const Json chat = *BodyOf(&GenerateOfOllama, R"({"prompt": "hi", "system": "be brief"})").chat.body;
  EXPECT_EQ(chat["messages"],
            Json::parse(R"([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}])"));
  const OllamaBody raw = BodyOf(&GenerateOfOllama, R"({"prompt": "hi", "raw": true})");
  EXPECT_EQ(raw.kind, ApiKind::kCompletion);
  EXPECT_EQ((*raw.chat.body)["prompt"], "hi");
  EXPECT_EQ((*raw.chat.body)["n_predict"], -1);
  const OllamaBody gap = BodyOf(&GenerateOfOllama, R"({"prompt": "a", "suffix": "b", "options": {"num_predict": 3}})");
  EXPECT_EQ((*gap.chat.body)["suffix"], "b");
  EXPECT_EQ((*gap.chat.body)["max_tokens"], 3);
  EXPECT_TRUE(BodyOf(&GenerateOfOllama, R"({"model": "m"})").only_loads);
  EXPECT_TRUE(BodyOf(&ChatOfOllama, R"({"model": "m", "messages": []})").only_loads);
}

TEST(OllamaRequest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"messages": 1})", "messages"},
      {R"({"messages": [1]})", "messages[0]"},
      {R"({"messages": [{"role": 1}]})", "messages[0].role"},
      {R"({"messages": [{"role": "user", "images": ["x"]}]})", "messages[0].images"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{}]}]})", "messages[0].tool_calls[0]"},
      {R"({"messages": [{"role": "assistant", "tool_calls": 1}]})", "messages[0].tool_calls"},
      {R"({"options": []})", "options"},
      {R"({"options": {"num_predict": "x"}})", "options.num_predict"},
      {R"({"think": 3})", "think"},
      {R"({"format": 3})", "format"},
      {R"({"stream": 3})", "stream"}};
  for (const auto& [body, param] : cases) EXPECT_EQ(ParamOf(&ChatOfOllama, body), param) << body;
  EXPECT_EQ(ParamOf(&GenerateOfOllama, R"({"prompt": "a", "images": ["x"]})"), "images");
  EXPECT_EQ(ParamOf(&GenerateOfOllama, R"({"prompt": "a", "context": [1]})"), "context");
  EXPECT_EQ(ParamOf(&GenerateOfOllama, R"({"prompt": 1})"), "prompt");
}

TEST(OllamaRequest, TimesAreWrittenAsOllamaDoes) {
  EXPECT_EQ(OllamaTime(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(OllamaTime(1'700'000'000.25), "2023-11-14T22:13:20.250000Z");
  EXPECT_EQ(OllamaErrorText({.message = "no \"x\""}), R"({"error":"no \"x\""})");
}

}  // namespace
}  // namespace adit::server
