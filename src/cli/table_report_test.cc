#include "cli/table_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace adit::cli {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

TableReport Report() {
  return {.title = "adit bench test",
          .settings = {{"processor", std::string("Some CPU, \"fast\"")}, {"cpus", int64_t{2}}},
          .columns = {{"name", "name"},
                      {"size", "size"},
                      {"bytes_per_s", "GB/s", 1e-9, 1},
                      {"share", "% of limit", 100.0, 1},
                      {"hidden", ""}},
          .rows = {{std::string("a|b"), int64_t{512}, 12.34e9, 0.5, std::string("x,y")},
                   {std::string("c"), int64_t{1024}, 1.0e9, TableCell(), std::string("z")}},
          .names = {"name", "size"},
          .bars = "bytes_per_s"};
}

TEST(TableReport, MarkdownScalesForPeopleAndLeavesHiddenColumnsOut) {
  const std::string text = RenderTable(Report(), TableFormat::kMarkdown);
  EXPECT_THAT(text, HasSubstr("# adit bench test"));
  EXPECT_THAT(text, HasSubstr("| a\\|b |   512 | 12.3 |       50.0 |"));
  EXPECT_THAT(text, HasSubstr("| c    | 1,024 |  1.0 |          - |"));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
  EXPECT_THAT(text, HasSubstr("| cpus      | 2 "));
}

TEST(TableReport, JsonIsAListOfRowsWithPlainNumbersAndTheSettings) {
  const Json rows = Json::parse(RenderTable(Report(), TableFormat::kJson));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["size"], 512);
  EXPECT_EQ(rows[0]["bytes_per_s"], 12.34e9);
  EXPECT_EQ(rows[0]["hidden"], "x,y");
  EXPECT_EQ(rows[1]["processor"], "Some CPU, \"fast\"");
  EXPECT_TRUE(rows[1]["share"].is_null());
}

TEST(TableReport, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(RenderTable(Report(), TableFormat::kCsv),
            "name,size,bytes_per_s,share,hidden,processor,cpus\n"
            "a|b,512,12340000000.0,0.5,\"x,y\",\"Some CPU, \"\"fast\"\"\",2\n"
            "c,1024,1000000000.0,,z,\"Some CPU, \"\"fast\"\"\",2\n");
}

TEST(TableReport, HtmlNeedsNothingElseAndShowsBars) {
  TableReport report = Report();
  report.title = "<b>";
  const std::string html = RenderTable(report, TableFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<title>&lt;b&gt;</title>"));
  EXPECT_THAT(html, HasSubstr("class=\"bar s0\""));
  EXPECT_THAT(html, HasSubstr("a|b, size 512"));
  EXPECT_THAT(html, Not(HasSubstr("http")));
}

TEST(TableReport, ComparesRowsOfTheSameMachine) {
  TableReport before = Report();
  before.rows[0][2] = 6.17e9;
  TableReport now = Report();
  now.rows.push_back({std::string("new"), int64_t{1}, 1.0, TableCell(), std::string()});
  const Status status = CompareWith(RenderTable(before, TableFormat::kJson), "bytes_per_s", {"processor", "cpus"}, now);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(now.columns[5].key, "bytes_per_s_before");
  EXPECT_EQ(std::get<double>(now.rows[0][5]), 6.17e9);
  EXPECT_DOUBLE_EQ(std::get<double>(now.rows[0][6]), 2.0);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(now.rows[2][6]));
}

TEST(TableReport, RefusesToCompareMachinesAndOtherFiles) {
  TableReport other = Report();
  other.settings[0].value = std::string("Another CPU");
  TableReport now = Report();
  EXPECT_THAT(CompareWith(RenderTable(other, TableFormat::kJson), "bytes_per_s", {"processor"}, now).message(),
              HasSubstr("of another machine: processor \"Another CPU\" there, Some CPU, \"fast\" here"));
  for (const char* text : {"", "{}", "[]", "[1]", "no JSON"}) {
    EXPECT_THAT(CompareWith(text, "bytes_per_s", {"processor"}, now).message(), HasSubstr("--compare")) << text;
  }
}

}  // namespace
}  // namespace adit::cli
