#include "cli/streamed_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace adit::cli {
namespace {

std::string Event(const std::string& data) { return "data: " + data + "\n\n"; }

TEST(StreamedAnswer, CountsWhatTellsOfTheAnswer) {
  StreamedAnswer answer(/*keeps_text=*/true);
  EXPECT_EQ(answer.Append(Event(R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})")), 0u);
  EXPECT_EQ(answer.Append(Event(R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})")), 1u);
  EXPECT_EQ(answer.Append(Event(R"({"choices":[{"delta":{"content":"a"}}]})") +
                          Event(R"({"choices":[{"delta":{"content":"b"}}],"usage":null})")),
            2u);
  EXPECT_EQ(answer.Append(Event(R"({"choices":[{"delta":{"tool_calls":[{"index":0}]}}]})")), 1u);
  EXPECT_FALSE(answer.done());
  EXPECT_EQ(answer.Append(Event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})")), 0u);
  EXPECT_TRUE(answer.done());
  answer.Append(Event(R"({"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,)"
                      R"("prompt_tokens_details":{"cached_tokens":8}}})") +
                Event("[DONE]"));
  EXPECT_EQ(answer.text(), "ab");
  EXPECT_EQ(answer.prompt_tokens(), 10);
  EXPECT_EQ(answer.output_tokens(), 4);
  EXPECT_EQ(answer.cached_tokens(), 8);
  EXPECT_EQ(answer.error(), "");
}

TEST(StreamedAnswer, ReadsCompletions) {
  StreamedAnswer answer(/*keeps_text=*/false);
  EXPECT_EQ(answer.Append(Event(R"({"choices":[{"text":"a"}]})") + Event(R"({"choices":[{"text":""}]})")), 1u);
  EXPECT_EQ(answer.text(), "");
  answer.Append(Event("[DONE]"));
  EXPECT_TRUE(answer.done());
  EXPECT_EQ(answer.prompt_tokens(), std::nullopt);
}

TEST(StreamedAnswer, TellsWhatIsWrong) {
  const auto error_of = [](const std::string& stream) {
    StreamedAnswer answer(/*keeps_text=*/false);
    answer.Append(stream);
    return answer.error();
  };
  EXPECT_EQ(error_of(Event("{broken")), "malformed stream");
  EXPECT_EQ(error_of(Event("[1]")), "malformed stream");
  EXPECT_EQ(error_of(Event(std::string(100'000, '['))), "malformed stream");
  EXPECT_EQ(error_of(Event(R"({"error":{"message":"m","code":"internal_error"}})")), "error in stream: internal_error");
  EXPECT_EQ(error_of(Event(R"({"error":"no object"})")), "error in stream");
  EXPECT_EQ(error_of(Event(R"({"choices":7,"usage":"x"})")), "");
}

TEST(ErrorName, IsTheStatusAndTheServersCode) {
  EXPECT_EQ(ErrorName(429, R"({"error":{"code":"queue_full","type":"rate_limit_error"}})"), "429 queue_full");
  EXPECT_EQ(ErrorName(400, R"({"error":{"code":400,"type":"invalid_request_error"}})"), "400");
  EXPECT_EQ(ErrorName(500, R"({"error":{"type":"server_error"}})"), "500 server_error");
  EXPECT_EQ(ErrorName(502, "<html>"), "502");
  EXPECT_EQ(ErrorName(500, R"({"error":{"code":"\u001b[2J"}})"), "500 ^[[2J");
}

}  // namespace
}  // namespace adit::cli
