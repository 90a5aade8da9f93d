#include "server/batch_record.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/batch_line.h"

namespace adit::server {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::string Line(const std::string& id, const std::string& url = "/v1/completions") {
  return R"({"custom_id": ")" + id + R"(", "method": "POST", "url": ")" + url + R"(", "body": {"prompt": "x"}})" + "\n";
}

TEST(BatchRecord, IsTheSameWhenItIsReadAgain) {
  BatchRecord record{.id = "batch_1",
                     .tenant = "t",
                     .kind = ApiKind::kCompletion,
                     .input_file_id = "file-1",
                     .metadata = R"({"a":"b"})",
                     .output_ttl_s = 4000,
                     .number = 7};
  record.Reach(BatchStatus::kValidating, 100);
  record.Reach(BatchStatus::kInProgress, 101);
  record.output_file_id = "file-2";
  record.total = 9;
  record.completed = 4;
  record.failed = 2;
  record.expires_s = 1000;
  record.faults = {{.code = "c", .message = "m", .line = 3}, {.code = "d", .message = "n"}};
  const auto again = ReadRecord("batch_1", RecordText(record));
  ASSERT_TRUE(again);
  EXPECT_EQ(RecordText(*again), RecordText(record));
  EXPECT_EQ(again->output_file_id, "file-2");
  EXPECT_EQ(again->output_ttl_s, 4000);
  EXPECT_EQ(again->faults.size(), 2u);
  EXPECT_EQ(again->tenant, "t");
  const nlohmann::json told = BatchJson(record);
  EXPECT_EQ(told["output_file_id"], nullptr) << "it is not whole";
  EXPECT_EQ(told["status"], "in_progress");
  EXPECT_EQ(told["in_progress_at"], 101);
  EXPECT_EQ(told["completed_at"], nullptr);
  EXPECT_EQ(told["errors"]["data"][1]["line"], nullptr);
  EXPECT_EQ(told.dump().find("\"tenant\""), std::string::npos);
  for (const char* text : {"", "[]", "{}", R"({"status":"nonsense","input_file_id":"x"})"}) {
    EXPECT_FALSE(ReadRecord("batch_1", text)) << text;
  }
}

TEST(BatchInput, EachLineIsARequestOfTheKindWithAnIdOfItsOwn) {
  int64_t num_requests = 0;
  const auto codes = [&](const std::string& text) {
    std::vector<std::string> told;
    for (const BatchFault& fault : CheckBatchInput(text, ApiKind::kCompletion, num_requests)) {
      told.push_back(fmt::format("{}:{}", fault.code, fault.line));
    }
    return told;
  };
  EXPECT_THAT(codes(Line("a") + "\n  \r\n" + Line("b")), ElementsAre());
  EXPECT_EQ(num_requests, 2);
  EXPECT_THAT(codes(Line("a") + "nonsense\n" + Line("c", "/v1/chat/completions") + "\n" + Line("a") + Line("d", "/x")),
              ElementsAre("invalid_json:2", "invalid_url:3", "duplicate_custom_id:5", "invalid_value:6"));
  EXPECT_THAT(codes(" \n"), ElementsAre("empty_file:0"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "x\n";
  EXPECT_EQ(codes(many).size(), 32u);
}

TEST(BatchResults, EndWithTheLastWholeLine) {
  const std::string whole = BatchResultLine("00", "a", 200, nlohmann::ordered_json::object()) +
                            BatchResultLine("01", "b", 400, nlohmann::ordered_json::object());
  const BatchResults results = ReadBatchResults(whole + R"({"id":"batch_req_02","custom_id":"c","resp)");
  EXPECT_THAT(results.custom_ids, UnorderedElementsAre("a", "b"));
  EXPECT_EQ(results.whole_bytes, whole.size());
  EXPECT_EQ(ReadBatchResults("torn").whole_bytes, 0u);
}

}  // namespace
}  // namespace adit::server
