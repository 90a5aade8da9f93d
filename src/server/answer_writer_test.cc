#include "server/answer_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "server/messages_writer.h"
#include "server/responses_writer.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kText =
    "<think>\nSun \xE2\x98\x80?\n</think>\nI look.<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": \"\xC3\xA9\"}}"
    "\n</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>";

engine::Event End(engine::FinishReason reason) {
  auto stats = std::make_unique<AnswerStats>();
  stats->reason = reason;
  stats->cached_tokens = 2;
  return {.kind = engine::Event::Kind::kFinished, .stats = std::move(stats)};
}

ApiRequest RequestOf() {
  ApiRequest request{.model = "m"};
  request.generation.prompt = {1, 2, 3};
  request.output = {.tools = ToolSyntax::kHermes, .reasoning = ReasoningSyntax::kThink, .tool_names = {"f", "g"}};
  return request;
}

// (name, data) of each event.
std::vector<std::pair<std::string, OrderedJson>> EventsOf(const std::string& stream) {
  std::vector<std::pair<std::string, OrderedJson>> events;
  for (size_t at = 0; at < stream.size();) {
    const size_t end = stream.find("\n\n", at);
    const std::string event = stream.substr(at, end - at);
    EXPECT_TRUE(IsValidUtf8(event));
    const size_t mark = event.find("\ndata: ");
    EXPECT_TRUE(event.starts_with("event: ") && mark != std::string::npos) << event;
    events.emplace_back(event.substr(7, mark - 7), OrderedJson::parse(event.substr(mark + 7)));
    EXPECT_EQ(events.back().second["type"], events.back().first);
    at = end + 2;
  }
  return events;
}

// Plays one text to a stream, which is written after every few bytes, and to a whole answer.
struct Play {
  Play(const MakeAnswerWriter& make, std::string_view text, uint32_t seed,
       engine::FinishReason reason = engine::FinishReason::kStop) {
    ApiAnswer streamed(request, tokenizer);
    ApiAnswer gathered(request, tokenizer);
    const auto writer = make(streamed, {.id = "1", .created_s = 5});
    const auto whole = make(gathered, {.id = "1", .created_s = 5});
    std::mt19937 rng(seed);
    std::string stream;
    for (const char byte : text) {
      for (ApiAnswer* answer : {&streamed, &gathered}) {
        answer->Take(0, {.kind = engine::Event::Kind::kToken, .token = static_cast<unsigned char>(byte)});
      }
      if (rng() % 3 == 0) writer->Write(stream);
    }
    streamed.Take(0, End(reason));
    gathered.Take(0, End(reason));
    writer->Write(stream);
    writer->WriteEnd(stream);
    events = EventsOf(stream);
    body = OrderedJson::parse(whole->Body());
  }

  const ByteTokenizer tokenizer{false, false};
  const ApiRequest request = RequestOf();
  std::vector<std::pair<std::string, OrderedJson>> events;
  OrderedJson body;
};

// The message that a client puts together from events.
OrderedJson MessageOf(const std::vector<std::pair<std::string, OrderedJson>>& events) {
  OrderedJson message;
  std::string input;
  for (const auto& [name, data] : events) {
    if (name == "message_start") message = data["message"];
    if (name == "content_block_start") {
      EXPECT_EQ(data["index"], message["content"].size());
      message["content"].push_back(data["content_block"]);
      input.clear();
    }
    if (name == "content_block_delta") {
      OrderedJson& block = message["content"].back();
      for (const char* key : {"text", "thinking", "signature"}) {
        if (data["delta"].contains(key)) {
          block[key] = block[key].get<std::string>() + data["delta"][key].get<std::string>();
        }
      }
      if (data["delta"].contains("partial_json")) input += data["delta"]["partial_json"].get<std::string>();
    }
    if (name == "content_block_stop" && message["content"].back()["type"] == "tool_use") {
      message["content"].back()["input"] = OrderedJson::parse(input);
    }
    if (name == "message_delta") {
      message.update(data["delta"]);
      message["usage"].update(data["usage"]);
    }
  }
  return message;
}

TEST(MessagesWriter, HoweverTheTextIsCutTheEventsGiveTheWholeMessage) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Play play(&MakeMessagesWriter, kText, seed);
    EXPECT_EQ(MessageOf(play.events), play.body) << seed;
    EXPECT_EQ(play.events.front().first, "message_start");
    EXPECT_EQ(play.events.back().first, "message_stop");
  }
  const OrderedJson body = Play(&MakeMessagesWriter, kText, 1).body;
  ASSERT_EQ(body["content"].size(), 4U) << body;
  EXPECT_EQ(body["content"][0]["thinking"], "Sun \xE2\x98\x80?");
  EXPECT_EQ(body["content"][1], OrderedJson::parse(R"({"type": "text", "text": "I look."})"));
  EXPECT_EQ(body["content"][2]["input"], OrderedJson::parse("{\"x\": \"\xC3\xA9\"}"));
  EXPECT_NE(body["content"][2]["id"], body["content"][3]["id"]);
  EXPECT_EQ(body["stop_reason"], "tool_use");
  EXPECT_EQ(body["usage"]["input_tokens"], 1);
  EXPECT_EQ(body["usage"]["cache_read_input_tokens"], 2);
  EXPECT_GT(body["usage"]["output_tokens_details"]["thinking_tokens"], 5);
}

TEST(MessagesWriter, TellsWhyAnAnswerEnded) {
  EXPECT_EQ(Play(&MakeMessagesWriter, "Hi", 1).body["stop_reason"], "end_turn");
  EXPECT_EQ(Play(&MakeMessagesWriter, "Hi", 1, engine::FinishReason::kLength).body["stop_reason"], "max_tokens");
  const OrderedJson empty = Play(&MakeMessagesWriter, "", 1).body;
  EXPECT_EQ(empty["content"], OrderedJson::array());
}

TEST(MessagesWriter, ErrorsHaveTheirOwnShape) {
  EXPECT_EQ(MessagesError({.status = 429, .message = "later"}, "r"),
            OrderedJson::parse(R"({"type": "error", "error": {"type": "rate_limit_error", "message": "later"},
                            "request_id": "r"})"));
}

MakeAnswerWriter Responses(std::vector<OrderedJson>* kept = nullptr) {
  return [kept](ApiAnswer& answer, const AnswerHead& head) {
    return MakeResponsesWriter(answer, head,
                               {.id = "9",
                                .echo = std::make_shared<nlohmann::json>(nlohmann::json{{"instructions", "be kind"}}),
                                .store = kept != nullptr,
                                .keep = [kept](const OrderedJson& response) {
                                  kept->push_back(response);
                                  return kept->size() < 2;
                                }});
  };
}

TEST(ResponsesWriter, HoweverTheTextIsCutTheEventsGiveTheWholeResponse) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Play play(Responses(), kText, seed);
    OrderedJson output = OrderedJson::array();
    std::string text;
    int64_t number = 0;
    for (const auto& [name, data] : play.events) {
      EXPECT_EQ(data["sequence_number"], number++);
      if (name == "response.output_item.added") {
        EXPECT_EQ(data["output_index"], output.size());
        text.clear();
      }
      if (name.ends_with(".delta")) text += data["delta"].get<std::string>();
      if (name == "response.output_text.done" || name == "response.reasoning_text.done") {
        EXPECT_EQ(data["text"], text);
      }
      if (name == "response.function_call_arguments.done") {
        EXPECT_EQ(data["arguments"], text);
      }
      if (name == "response.output_item.done") output.push_back(data["item"]);
    }
    EXPECT_EQ(output, play.body["output"]) << seed;
    EXPECT_EQ(play.events[0].first, "response.created");
    EXPECT_EQ(play.events[1].first, "response.in_progress");
    EXPECT_EQ(play.events.back().first, "response.completed");
    OrderedJson last = play.events.back().second["response"];
    last["completed_at"] = play.body["completed_at"];
    EXPECT_EQ(last, play.body);
  }
  const OrderedJson body = Play(Responses(), kText, 1).body;
  ASSERT_EQ(body["output"].size(), 4U) << body;
  EXPECT_EQ(body["id"], "resp_9");
  EXPECT_EQ(body["instructions"], "be kind");
  EXPECT_EQ(body["output"][0]["type"], "reasoning");
  EXPECT_EQ(body["output"][1]["content"][0]["text"], "I look.");
  EXPECT_EQ(body["output"][2]["name"], "f");
  EXPECT_EQ(body["usage"]["input_tokens_details"]["cached_tokens"], 2);
}

TEST(ResponsesWriter, AnAnswerThatIsCutOffIsIncomplete) {
  const Play play(Responses(), "<think>a</think>b", 1, engine::FinishReason::kLength);
  EXPECT_EQ(play.events.back().first, "response.incomplete");
  EXPECT_EQ(play.body["status"], "incomplete");
  EXPECT_EQ(play.body["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(play.body["output"][0]["status"], "completed");
  EXPECT_EQ(play.body["output"][1]["status"], "incomplete");
}

TEST(ResponsesWriter, WhatCannotBeKeptSaysSo) {
  std::vector<OrderedJson> kept;
  const Play play(Responses(&kept), "Hi", 1);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(play.events.back().second["response"]["store"], true);
  EXPECT_EQ(play.body["store"], false);
}

}  // namespace
}  // namespace adit::server
