#include "server/answer_chunks.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "base/error.h"
#include "base/utf8.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

engine::Event ChunkToken(int32_t token, int32_t answer) {
  engine::Event event{.kind = engine::Event::Kind::kToken, .answer = answer, .token = token};
  event.logprob = -0.25;
  return event;
}

engine::Event ChunkEnd(engine::FinishReason reason, int32_t answer) {
  auto stats = std::make_unique<AnswerStats>();
  stats->reason = reason;
  return {.kind = engine::Event::Kind::kFinished, .answer = answer, .stats = std::move(stats)};
}

std::vector<OrderedJson> ChunksOf(const std::string& stream) {
  std::vector<OrderedJson> events;
  for (size_t at = 0; at < stream.size();) {
    const size_t end = stream.find("\n\n", at);
    EXPECT_NE(end, std::string::npos);
    const std::string line = stream.substr(at, end - at);
    EXPECT_TRUE(line.starts_with("data: ")) << line;
    EXPECT_TRUE(IsValidUtf8(line));
    events.push_back(line == "data: [DONE]" ? OrderedJson("[DONE]") : OrderedJson::parse(line.substr(6)));
    at = end + 2;
  }
  return events;
}

// What a client puts together from the chunks of each choice, in the form of a whole answer.
std::map<int, OrderedJson> Assemble(const std::vector<OrderedJson>& events, bool is_chat) {
  std::map<int, OrderedJson> choices;
  for (const OrderedJson& event : events) {
    if (!event.is_object()) continue;
    for (const OrderedJson& choice : event["choices"]) {
      const bool is_new = !choices.contains(choice["index"].get<int>());
      OrderedJson& whole = choices[choice["index"].get<int>()];
      if (is_new)
        whole = {{"content", ""}, {"reasoning", ""}, {"calls", OrderedJson::array()}, {"tokens", OrderedJson::array()}};
      EXPECT_FALSE(whole.contains("finish_reason")) << "chunks behind the last";
      if (is_chat) {
        const OrderedJson& delta = choice["delta"];
        EXPECT_EQ(delta.contains("role"), is_new);
        if (delta.contains("content"))
          whole["content"] = whole["content"].get<std::string>() + delta["content"].get<std::string>();
        if (delta.contains("reasoning")) {
          whole["reasoning"] = whole["reasoning"].get<std::string>() + delta["reasoning"].get<std::string>();
        }
        if (delta.contains("tool_calls")) whole["calls"].push_back(delta["tool_calls"][0]["function"]);
        if (!choice["logprobs"].is_null()) {
          for (const OrderedJson& token : choice["logprobs"]["content"]) whole["tokens"].push_back(token);
        }
      } else {
        whole["content"] = whole["content"].get<std::string>() + choice["text"].get<std::string>();
        if (!choice["logprobs"].is_null()) {
          for (const char* key : {"tokens", "text_offset"}) {
            for (const OrderedJson& value : choice["logprobs"][key])
              whole[key == std::string("tokens") ? "tokens" : "offsets"].push_back(value);
          }
        }
      }
      if (!choice["finish_reason"].is_null()) whole["finish_reason"] = choice["finish_reason"];
    }
  }
  return choices;
}

// Plays the same tokens to a stream, which is written after every few of them, and to a whole answer.
struct ChunkPlay {
  ChunkPlay(ApiRequest wanted, const std::vector<std::pair<int32_t, int32_t>>& tokens, uint32_t seed)
      : request(std::move(wanted)) {
    request.stream.on = true;
    ApiAnswer streamed(request, tokenizer);
    ApiAnswer gathered(request, tokenizer);
    AnswerChunks chunks(streamed, {.id = "1", .created_s = 5});
    std::mt19937 rng(seed);
    std::string stream;
    for (const auto& [answer, token] : tokens) {
      streamed.Take(0, ChunkToken(token, answer));
      gathered.Take(0, ChunkToken(token, answer));
      if (rng() % 3 == 0) chunks.Write(stream);
    }
    for (int32_t i = 0; i < request.generation.num_answers; ++i) {
      streamed.Take(0, ChunkEnd(engine::FinishReason::kStop, i));
      gathered.Take(0, ChunkEnd(engine::FinishReason::kStop, i));
    }
    chunks.Write(stream);
    chunks.WriteEnd(stream);
    events = ChunksOf(stream);
    body = gathered.Body({.id = "1", .created_s = 5});
  }

  const ByteTokenizer tokenizer{true, false};
  ApiRequest request;
  std::vector<OrderedJson> events;
  OrderedJson body;
};

ApiRequest ChunkRequest(ApiKind kind) {
  ApiRequest request{.kind = kind, .model = "m"};
  request.generation.prompt = {kBos, 'h', 'i'};
  return request;
}

TEST(AnswerChunks, OfAChat) {
  ApiRequest request = ChunkRequest(ApiKind::kChat);
  request.stream.usage = true;
  const ChunkPlay play(request, {{0, 'a'}, {0, 'b'}}, 1);
  const std::vector<OrderedJson>& events = play.events;
  ASSERT_GE(events.size(), 5U);
  EXPECT_EQ(events[0].dump(),
            R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"m",)"
            R"("service_tier":"default","choices":[{"index":0,)"
            R"("delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null})");
  EXPECT_EQ(events[1]["choices"][0]["delta"].size(), 1U);
  const OrderedJson& last = events[events.size() - 3];
  EXPECT_EQ(last["choices"][0].dump(),
            R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","stop_reason":null})");
  const OrderedJson& usage = events[events.size() - 2];
  EXPECT_TRUE(usage["choices"].empty());
  EXPECT_EQ(usage["usage"], play.body["usage"]);
  EXPECT_EQ(events.back(), "[DONE]");
}

TEST(AnswerChunks, WithoutAWishThereIsNoUsage) {
  const ChunkPlay play(ChunkRequest(ApiKind::kCompletion), {{0, 'a'}}, 1);
  ASSERT_EQ(play.events.size(), 2U);
  EXPECT_EQ(play.events[0].dump(), R"({"id":"cmpl-1","object":"text_completion","created":5,"model":"m",)"
                                   R"("service_tier":"default","choices":)"
                                   R"([{"index":0,"text":"a","logprobs":null,"finish_reason":"stop","stop_reason":)"
                                   R"(null}]})");
}

// The law: whatever the tokens and whenever it is written, the chunks joined are the whole answer.
TEST(AnswerChunks, JoinedAreTheWholeAnswer) {
  const std::string words[] = {
      "<think>",     "</think>", "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</tool_call>",
      "<tool_call>", " ",        "\n",
      "STOP",        "ST",       "\xF0\x9F\x98\x80",
      "\xF0\x9F",    "\xFF",     "x"};
  std::mt19937 rng(3);
  for (uint32_t round = 0; round < 1500; ++round) {
    const bool is_chat = rng() % 3 != 0;
    ApiRequest request = ChunkRequest(is_chat ? ApiKind::kChat : ApiKind::kCompletion);
    request.generation.num_answers = 1 + static_cast<int32_t>(rng() % 2);
    if (rng() % 2 == 0) request.stops = {"STOP", "TO"};
    request.include_stop = rng() % 4 == 0;
    request.logprobs = rng() % 2 == 0;
    request.stream.interval = 1 + static_cast<int64_t>(rng() % 4);
    if (!is_chat && rng() % 2 == 0) request.echo = {"hi"};
    if (is_chat && rng() % 2 == 0) request.output.reasoning = ReasoningSyntax::kThink;
    if (is_chat && rng() % 2 == 0) request.output.tools = ToolSyntax::kHermes;
    std::vector<std::pair<int32_t, int32_t>> tokens;
    for (uint32_t i = rng() % 8; i > 0; --i) {
      const auto answer = static_cast<int32_t>(rng() % static_cast<uint32_t>(request.generation.num_answers));
      for (const char byte : words[rng() % std::size(words)]) {
        tokens.emplace_back(answer, static_cast<unsigned char>(byte));
      }
    }
    const ChunkPlay play(request, tokens, round);
    const std::map<int, OrderedJson> choices = Assemble(play.events, is_chat);
    ASSERT_EQ(choices.size(), play.body["choices"].size());
    for (const OrderedJson& whole : play.body["choices"]) {
      const OrderedJson& joined = choices.at(whole["index"].get<int>());
      ASSERT_EQ(joined.at("finish_reason"), whole["finish_reason"]) << round;
      if (!is_chat) {
        ASSERT_EQ(joined.at("content"), whole["text"]) << round;
        if (!request.logprobs) continue;
        ASSERT_EQ(joined.at("tokens"), whole["logprobs"]["tokens"]) << round;
        if (joined.contains("offsets")) {
          ASSERT_EQ(joined.at("offsets"), whole["logprobs"]["text_offset"]) << round;
        }
        continue;
      }
      const OrderedJson& message = whole["message"];
      ASSERT_EQ(joined.at("content"), message["content"].is_null() ? OrderedJson("") : message["content"]) << round;
      ASSERT_EQ(joined.at("reasoning"), message.value("reasoning", "")) << round;
      OrderedJson calls = OrderedJson::array();
      if (message.contains("tool_calls")) {
        for (const OrderedJson& call : message["tool_calls"]) calls.push_back(call["function"]);
      }
      ASSERT_EQ(joined.at("calls"), calls) << round;
      if (request.logprobs) {
        ASSERT_EQ(joined.at("tokens"), whole["logprobs"]["content"]) << round;
      }
    }
  }
}

TEST(AnswerChunks, AFailureOnTheWayIsAnEvent) {
  std::string stream;
  AnswerChunks::WriteFailure(ErrorOfEngine(Internal("broken \xFF")), stream);
  const std::vector<OrderedJson> events = ChunksOf(stream);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["error"]["code"], "internal_error");
  EXPECT_EQ(events[1], "[DONE]");
}

}  // namespace
}  // namespace adit::server
