#include "server/api_answer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

ApiRequest RequestOf(ApiKind kind) {
  ApiRequest request{.kind = kind, .model = "m"};
  request.generation.prompt = {kBos, 'h', 'i'};
  return request;
}

engine::Event Token(int32_t token, int32_t answer = 0, bool ends = false) {
  engine::Event event{.kind = engine::Event::Kind::kToken, .answer = answer, .token = token, .ends_answer = ends};
  event.logprob = -0.5;
  event.top = {{.id = token, .logprob = -0.5}, {.id = 'z', .logprob = -std::numeric_limits<double>::infinity()}};
  return event;
}

engine::Event End(engine::FinishReason reason, int64_t num_tokens, int32_t answer = 0, int32_t stop_token = -1) {
  auto stats = std::make_unique<AnswerStats>();
  stats->reason = reason;
  stats->stop_token = stop_token;
  stats->output_tokens = num_tokens;
  stats->cached_tokens = 2;
  return {.kind = engine::Event::Kind::kFinished, .answer = answer, .stats = std::move(stats)};
}

class ApiAnswerTest : public testing::Test {
 protected:
  ApiAnswer Answer(const ApiRequest& request) const { return ApiAnswer(request, tokenizer_); }
  static void Say(ApiAnswer& answer, std::string_view text, int32_t index = 0) {
    for (const char byte : text) answer.Take(0, Token(static_cast<unsigned char>(byte), index));
  }
  ByteTokenizer tokenizer_{true, false};
};

TEST_F(ApiAnswerTest, AChatCompletion) {
  ApiRequest request = RequestOf(ApiKind::kChat);
  request.fingerprint = "fp_1";
  ApiAnswer answer = Answer(request);
  Say(answer, "h\xC3\xA9");
  answer.Take(0, Token(kEos, 0, /*ends=*/true));
  EXPECT_FALSE(answer.complete());
  answer.Take(0, End(engine::FinishReason::kStop, 4, 0, kEos));
  EXPECT_TRUE(answer.complete());
  EXPECT_EQ(answer.Body({"1", 5}).dump(),
            "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":5,\"model\":\"m\","
            "\"system_fingerprint\":\"fp_1\",\"service_tier\":\"default\",\"choices\":[{\"index\":0,"
            "\"message\":{\"role\":\"assistant\",\"content\":\"h\xC3\xA9\",\"refusal\":null},\"logprobs\":null,"
            "\"finish_reason\":\"stop\",\"stop_reason\":null}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4,"
            "\"total_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":2},"
            "\"completion_tokens_details\":{\"reasoning_tokens\":0}}}");
}

TEST_F(ApiAnswerTest, AStopStringEndsAnAnswerEarly) {
  ApiRequest request = RequestOf(ApiKind::kChat);
  request.stops = {"END"};
  request.logprobs = true;
  ApiAnswer answer = Answer(request);
  Say(answer, "a EN");
  EXPECT_FALSE(answer.complete());
  Say(answer, "D");
  EXPECT_TRUE(answer.complete());
  // What the engine still tells changes nothing.
  Say(answer, "more");
  answer.Take(0, End(engine::FinishReason::kCancelled, 9));
  const OrderedJson choice = answer.Body({"1", 5})["choices"][0];
  EXPECT_EQ(choice["message"]["content"], "a ");
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(choice["stop_reason"], "END");
  EXPECT_EQ(choice["logprobs"]["content"].size(), 2U);
  EXPECT_EQ(answer.usage().output_tokens, 5);
  EXPECT_EQ(answer.usage().cached_tokens, 2);
}

TEST_F(ApiAnswerTest, WhatWasHeldBackComesAtTheEnd) {
  ApiRequest request = RequestOf(ApiKind::kChat);
  request.stops = {"END"};
  ApiAnswer answer = Answer(request);
  Say(answer, "a EN");
  answer.Take(0, End(engine::FinishReason::kLength, 4));
  const OrderedJson choice = answer.Body({"1", 5})["choices"][0];
  EXPECT_EQ(choice["message"]["content"], "a EN");
  EXPECT_EQ(choice["finish_reason"], "length");
}

TEST_F(ApiAnswerTest, AStopTokenOfTheRequestIsTold) {
  ApiRequest request = RequestOf(ApiKind::kCompletion);
  request.generation.stop_token_ids = {'x'};
  ApiAnswer answer = Answer(request);
  Say(answer, "a");
  answer.Take(0, Token('x', 0, /*ends=*/true));
  answer.Take(0, End(engine::FinishReason::kStop, 2, 0, 'x'));
  const OrderedJson choice = answer.Body({"1", 5})["choices"][0];
  EXPECT_EQ(choice["text"], "a");
  EXPECT_EQ(choice["stop_reason"], 'x');
}

TEST_F(ApiAnswerTest, SeveralAnswersDoNotMix) {
  ApiRequest request = RequestOf(ApiKind::kChat);
  request.generation.num_answers = 2;
  request.stops = {"!"};
  ApiAnswer answer = Answer(request);
  Say(answer, "on", 1);
  Say(answer, "ze!", 0);
  EXPECT_FALSE(answer.complete());
  Say(answer, "e", 1);
  answer.Take(0, End(engine::FinishReason::kLength, 3, 1));
  EXPECT_TRUE(answer.complete());
  const OrderedJson choices = answer.Body({"1", 5})["choices"];
  EXPECT_EQ(choices[0]["message"]["content"], "ze");
  EXPECT_EQ(choices[1]["message"]["content"], "one");
  EXPECT_EQ(choices[1]["index"], 1);
  EXPECT_EQ(answer.usage().output_tokens, 6);
}

TEST_F(ApiAnswerTest, ChatLogprobs) {
  ApiRequest request = RequestOf(ApiKind::kChat);
  request.logprobs = true;
  ApiAnswer answer = Answer(request);
  Say(answer, "\xC3\xA9");
  answer.Take(0, End(engine::FinishReason::kLength, 2));
  const OrderedJson content = answer.Body({"1", 5})["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(content.size(), 2U);
  EXPECT_EQ(
      content[0].dump(),
      "{\"token\":\"\xEF\xBF\xBD\",\"logprob\":-0.5,\"bytes\":[195],\"top_logprobs\":[{\"token\":\"\xEF\xBF\xBD\","
      "\"logprob\":-0.5,\"bytes\":[195]},{\"token\":\"z\",\"logprob\":-9999.0,\"bytes\":[122]}]}");
}

TEST_F(ApiAnswerTest, CompletionLogprobsWithEcho) {
  ApiRequest request = RequestOf(ApiKind::kCompletion);
  request.generation.prompt = {kBos, 'h', 0xC3, 0xA9};
  request.logprobs = true;
  request.echo = {"h\xC3\xA9"};
  ApiAnswer answer = Answer(request);
  for (const int32_t token : request.generation.prompt) {
    engine::Event event = Token(token);
    event.kind = engine::Event::Kind::kPromptToken;
    if (token == kBos) event.logprob = std::nan("");
    answer.Take(0, std::move(event));
  }
  Say(answer, "!?");
  answer.Take(0, End(engine::FinishReason::kLength, 2));
  const OrderedJson choice = answer.Body({"1", 5})["choices"][0];
  EXPECT_EQ(choice["text"], "h\xC3\xA9!?");
  const OrderedJson& logprobs = choice["logprobs"];
  EXPECT_EQ(logprobs["tokens"], OrderedJson::parse("[\"<s>\",\"h\",\"\xEF\xBF\xBD\",\"\xEF\xBF\xBD\",\"!\",\"?\"]"));
  EXPECT_EQ(logprobs["token_logprobs"], OrderedJson::parse("[null,-0.5,-0.5,-0.5,-0.5,-0.5]"));
  EXPECT_EQ(logprobs["text_offset"], OrderedJson::parse("[0,0,1,1,2,3]"));
  EXPECT_EQ(logprobs["top_logprobs"][0], nullptr);
  EXPECT_EQ(logprobs["top_logprobs"][1], OrderedJson::parse(R"({"h":-0.5,"z":-9999.0})"));
}

TEST_F(ApiAnswerTest, ErrorsOfTheEngine) {
  const ApiRequest request = RequestOf(ApiKind::kChat);
  ApiAnswer answer = Answer(request);
  answer.Take(0, {.kind = engine::Event::Kind::kError, .status = InvalidArgument("too much")});
  ASSERT_TRUE(answer.error());
  EXPECT_EQ(answer.error()->status, 400);
  EXPECT_EQ(answer.error()->message, "too much");
  EXPECT_EQ(ErrorOfEngine(Internal("broken")).status, 500);
  EXPECT_EQ(ErrorOfEngine(Internal("broken")).code, "internal_error");
}

}  // namespace
}  // namespace adit::server
