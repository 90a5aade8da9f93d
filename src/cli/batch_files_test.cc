#include "cli/batch_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "server/batch_line.h"

namespace adit::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class BatchFiles : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + name;
  }
  std::string Make(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }
  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string ResultOf(const std::string& custom_id) {
    return server::BatchResultLine("00", custom_id, 200, nlohmann::ordered_json::object());
  }
};

TEST_F(BatchFiles, LinesCountButEmptyOnesArePassedOver) {
  auto input = BatchInput::Open(Make("in", "{\"custom_id\":\"a\"}\n\n  \r\nnonsense\r\n{\"custom_id\":\"b\"}"));
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(*input->CountNew({}), 3);
  EXPECT_EQ(*input->CountNew({.custom_ids = {"b"}, .lines = {4}}), 1);
  BatchInput::Line line;
  std::vector<int64_t> numbers;
  while (*input->Next(line)) numbers.push_back(line.number);
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 4, 5}));
}

TEST_F(BatchFiles, ALineThatIsTooLongIsALine) {
  auto input =
      BatchInput::Open(Make("in", "{\"custom_id\":\"" + std::string(BatchInput::kMaxLineBytes, 'x') + "\"}\n{}\n"));
  ASSERT_TRUE(input.ok());
  BatchInput::Line line;
  ASSERT_TRUE(*input->Next(line));
  EXPECT_TRUE(line.too_long);
  ASSERT_TRUE(*input->Next(line));
  EXPECT_FALSE(line.too_long);
  EXPECT_EQ(line.text, "{}");
  EXPECT_EQ(line.number, 2);
}

TEST_F(BatchFiles, TwoLinesWithOneCustomIdAreNamed) {
  auto input =
      BatchInput::Open(Make("in", "{\"custom_id\":\"a\"}\n{\"custom_id\":\"b\"}\n\n{\"custom_id\":\"a\",\"x\":1}\n"));
  const Status status = input->CountNew({}).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("lines 1 and 4 have the same custom_id 'a'"));
}

TEST_F(BatchFiles, WhatCannotBeReadTwiceIsRefused) {
  EXPECT_EQ(BatchInput::Open(Path("absent")).status().code(), StatusCode::kIo);
  EXPECT_THAT(BatchInput::Open(testing::TempDir()).status().message(), HasSubstr("a folder"));
  EXPECT_THAT(BatchInput::Open("/dev/null").status().message(), HasSubstr("pipe or device"));
}

TEST_F(BatchFiles, WhatIsThereIsAnsweredAndATornLineGoes) {
  const std::string whole = ResultOf("a") + ResultOf("b") +
                            server::BatchErrorLine("01", {.error = {.code = "invalid_json", .message = "m"}}, 7);
  const std::string torn = ResultOf("c");
  // Wherever the kill came.
  for (size_t length = 0; length < torn.size(); ++length) {
    const std::string path = Make("out", whole + torn.substr(0, length));
    auto output = BatchOutput::Open(path, /*overwrite=*/false);
    ASSERT_TRUE(output.ok()) << output.status().ToString();
    EXPECT_THAT(output->answered().custom_ids, UnorderedElementsAre("a", "b"));
    EXPECT_THAT(output->answered().lines, UnorderedElementsAre(7));
    ASSERT_TRUE(output->Begin().ok());
    ASSERT_TRUE(output->Write(torn).ok());
    EXPECT_EQ(Contents(path), whole + torn);
  }
}

TEST_F(BatchFiles, ATornLineLongerThanABufferGoes) {
  const std::string torn = ResultOf(std::string(10'000, 'x'));
  const std::string path = Make("out", ResultOf("a") + torn.substr(0, torn.size() - 1));
  ASSERT_TRUE(BatchOutput::Open(path, false).ok());
  EXPECT_EQ(Contents(path), ResultOf("a"));
}

TEST_F(BatchFiles, WhatIsNoResultStaysAsItIs) {
  for (const std::string& text : {std::string("my notes"), std::string("my notes\n"), ResultOf("a") + "{}\n",
                                  std::string("{\"id\":\"batch_req_1\"}\n"), std::string("\n")}) {
    const std::string path = Make("out", text);
    const Status status = BatchOutput::Open(path, false).status();
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << text;
    EXPECT_THAT(status.message(), HasSubstr("--overwrite"));
    EXPECT_EQ(Contents(path), text);
  }
}

TEST_F(BatchFiles, OverwriteStartsAnewButNotBeforeTheRunBegins) {
  const std::string path = Make("out", "my notes");
  auto output = BatchOutput::Open(path, /*overwrite=*/true);
  ASSERT_TRUE(output.ok());
  EXPECT_TRUE(output->answered().custom_ids.empty());
  EXPECT_EQ(Contents(path), "my notes");
  ASSERT_TRUE(output->Begin().ok());
  ASSERT_TRUE(output->Write("x\n").ok());
  EXPECT_EQ(Contents(path), "x\n");
}

TEST_F(BatchFiles, OneProgramAtATimeWrites) {
  const std::string path = Make("out", "");
  auto first = BatchOutput::Open(path, false);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(BatchOutput::Open(path, false).status().message(), HasSubstr("another adit batch"));
}

TEST(BatchLine, ReadsTheEnvelope) {
  auto parsed = server::ParseBatchLine(
      R"({"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": {"prompt": "x"}, "more": 1})");
  const auto* line = std::get_if<server::BatchRequestLine>(&parsed);
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->custom_id, "a");
  EXPECT_EQ(line->kind, server::ApiKind::kCompletion);
  EXPECT_EQ(line->body->dump(), R"({"prompt":"x"})");
}

TEST(BatchLine, SaysWhatIsWrongWithAnEnvelope) {
  struct Case {
    const char* line;
    const char* code;
    const char* param;
    bool has_id;
  };
  const Case cases[] = {
      {"{", "invalid_json", "", false},
      {"[]", "invalid_type", "", false},
      {"{}", "missing_required_parameter", "custom_id", false},
      {R"({"custom_id": 5})", "invalid_type", "custom_id", false},
      {R"({"custom_id": "a"})", "missing_required_parameter", "method", true},
      {R"({"custom_id": "a", "method": "GET", "url": "/v1/completions", "body": {}})", "invalid_value", "method", true},
      {R"({"custom_id": "a", "method": "POST", "url": "/v1/embeddings", "body": {}})", "invalid_value", "url", true},
      {R"({"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": 5})", "invalid_type", "body", true}};
  for (const Case& wanted : cases) {
    auto parsed = server::ParseBatchLine(wanted.line);
    const auto* error = std::get_if<server::BatchLineError>(&parsed);
    ASSERT_NE(error, nullptr) << wanted.line;
    EXPECT_EQ(error->error.code, wanted.code) << wanted.line;
    EXPECT_EQ(error->error.param, wanted.param) << wanted.line;
    EXPECT_EQ(error->custom_id.has_value(), wanted.has_id) << wanted.line;
  }
}

TEST(BatchLine, ResultsHaveOpenAisForm) {
  EXPECT_EQ(server::BatchResultLine("0a", "x", 200, {{"object", "o"}}),
            "{\"id\":\"batch_req_0a\",\"custom_id\":\"x\",\"response\":{\"status_code\":200,\"request_id\":\"req_0a\","
            "\"body\":{\"object\":\"o\"}},\"error\":null}\n");
  EXPECT_EQ(server::BatchErrorLine("0a", {.error = {.code = "c", .message = "m"}}, 3),
            "{\"id\":\"batch_req_0a\",\"custom_id\":null,\"response\":null,\"error\":{\"message\":\"m\",\"param\":null,"
            "\"code\":\"c\",\"line\":3}}\n");
}

}  // namespace
}  // namespace adit::cli
