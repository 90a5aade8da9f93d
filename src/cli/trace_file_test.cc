#include "cli/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::cli {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto trace = ParseTrace(text, "t.jsonl", std::nullopt);
  EXPECT_EQ(trace.status().code(), StatusCode::kInvalidArgument) << text;
  return trace.status().message();
}

TEST(TraceFile, ReadsArrivalsLengthsAndSharedBlocks) {
  const auto trace = ParseTrace(
      "{\"timestamp\": 2000, \"input_length\": 1100, \"output_length\": 5, \"hash_ids\": [7, 8, 9]}\n"
      "\n"
      "{\"timestamp\": 3500, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [7]}\r\n"
      "{\"input_length\": 3, \"output_length\": 1, \"timestamp\": 2000.5, \"other\": {}}",
      "t", std::nullopt);
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  ASSERT_EQ(trace->size(), 3u);
  const sched::WorkloadRequest& first = (*trace)[0];
  const sched::WorkloadRequest& second = (*trace)[1];
  EXPECT_EQ(first.arrival_s, 0.0);
  EXPECT_EQ(second.arrival_s, 1.5);
  EXPECT_NEAR((*trace)[2].arrival_s, 0.0005, 1e-12);
  ASSERT_EQ(first.parts.size(), 3u);
  EXPECT_EQ(first.parts[2].num_tokens, 1100 - 2 * 512);
  EXPECT_EQ(first.num_new_tokens(), 1100);
  EXPECT_EQ(first.output_tokens, 5);
  ASSERT_EQ(second.parts.size(), 2u);
  EXPECT_EQ(second.parts[0].content, first.parts[0].content);
  EXPECT_NE(second.parts[1].content, first.parts[1].content);
  EXPECT_EQ(second.parts[1].num_tokens, 88);
  EXPECT_TRUE(sched::Workload::FromRequests(*trace, {{.name = "t"}}, 0, 100).ok());
}

TEST(TraceFile, ReadsNoMoreThanAskedFor) {
  const std::string line = "{\"input_length\": 3, \"output_length\": 1}\n";
  EXPECT_EQ(ParseTrace(line + line + "broken", "t", 2)->size(), 2u);
}

TEST(TraceFile, WrongLinesAreNamed) {
  const std::string good = "{\"input_length\": 3, \"output_length\": 1}\n";
  EXPECT_THAT(ErrorOf(""), HasSubstr("t.jsonl: there is no request"));
  EXPECT_THAT(ErrorOf(good + "{\"input_length\": 3"), HasSubstr("line 2: not a JSON object"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("line 1: not a JSON object"));
  EXPECT_THAT(ErrorOf("{\"output_length\": 1}"), HasSubstr("no number 'input_length'"));
  EXPECT_THAT(ErrorOf("{\"input_length\": 0, \"output_length\": 1}"), HasSubstr("'input_length' is 0"));
  EXPECT_THAT(ErrorOf("{\"input_length\": 1e300, \"output_length\": 1}"), HasSubstr("'input_length' is 1e+300"));
  const auto with = [](const std::string& field) {
    return "{\"input_length\": 3, \"output_length\": 1, " + field + "}";
  };
  EXPECT_THAT(ErrorOf(with("\"timestamp\": -1")), HasSubstr("'timestamp'"));
  EXPECT_THAT(ErrorOf(with("\"timestamp\": \"x\"")), HasSubstr("'timestamp'"));
  EXPECT_THAT(ErrorOf(with("\"hash_ids\": 3")), HasSubstr("'hash_ids'"));
  EXPECT_THAT(ErrorOf(with("\"hash_ids\": [-3]")), HasSubstr("'hash_ids'"));
  EXPECT_THAT(ErrorOf("\"" + std::string(size_t{2} << 20, 'x')), HasSubstr("longer than"));
}

TEST(TraceFile, DeepNestingDoesNoHarm) {
  const std::string deep = "{\"input_length\": 3, \"output_length\": 1, \"x\": " + std::string(100'000, '[') +
                           std::string(100'000, ']') + "}";
  EXPECT_TRUE(ParseTrace(deep, "t", std::nullopt).ok());
  EXPECT_THAT(ErrorOf(std::string(500'000, '[')), HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace adit::cli
