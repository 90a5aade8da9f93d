#include "cli/bench_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace adit::cli {
namespace {

using testing::HasSubstr;

BenchRun RunOf(double rate, double ttft_p99_s) {
  BenchRun run;
  run.summary.output_tokens_per_s = rate;
  run.summary.ttft_s.p99 = ttft_p99_s;
  run.summary.from_outside = true;
  return run;
}

const ComparisonRow& Row(const BenchComparison& comparison, const std::string& key) {
  for (const ComparisonRow& row : comparison.rows) {
    if (row.key == key) return row;
  }
  ADD_FAILURE() << key;
  return comparison.rows.front();
}

TEST(BenchComparison, TellsHowManyTimesBetterEachRoundWas) {
  const std::vector<BenchRun> ours = {RunOf(300, 0.1), RunOf(200, 0.2), RunOf(400, 0.1)};
  std::vector<BenchRun> theirs = {RunOf(100, 0.4), RunOf(100, 0.4), RunOf(100, 0.5)};
  theirs[0].errors = {{.name = "429", .count = 2}};
  theirs[2].errors = {{.name = "429", .count = 3}};
  const BenchComparison comparison = CompareRuns("http://b/v1", ours, theirs);
  EXPECT_EQ(comparison.rounds, 3);
  const ComparisonRow& rate = Row(comparison, "output_tokens_per_s");
  EXPECT_EQ(rate.ours, 300);
  EXPECT_EQ(rate.theirs, 100);
  EXPECT_DOUBLE_EQ(rate.times_better, 3);
  EXPECT_DOUBLE_EQ(rate.least, 2);
  EXPECT_DOUBLE_EQ(rate.most, 4);
  const ComparisonRow& ttft = Row(comparison, "ttft_p99_ms");
  EXPECT_DOUBLE_EQ(ttft.times_better, 4);
  EXPECT_DOUBLE_EQ(ttft.least, 2);
  EXPECT_DOUBLE_EQ(ttft.most, 5);
  EXPECT_EQ(Row(comparison, "e2e_p50_s").times_better, 0) << "nothing is known of it";
  ASSERT_EQ(comparison.errors.size(), 1u);
  EXPECT_EQ(comparison.errors[0].count, 5);
}

TEST(BenchComparison, ReadsAnEarlierReport) {
  BenchReport report{.title = "t", .settings = {}, .tenants = {}, .run = RunOf(50, 0.3), .repeats = 1, .ledger = {}};
  const Result<BenchComparison> comparison = CompareWithReport("f.json", JsonReport(report), RunOf(100, 0.1));
  ASSERT_TRUE(comparison.ok()) << comparison.status().ToString();
  EXPECT_DOUBLE_EQ(Row(*comparison, "output_tokens_per_s").times_better, 2);
  EXPECT_NEAR(Row(*comparison, "ttft_p99_ms").times_better, 3, 1e-9);
  EXPECT_THAT(CompareWithReport("f", "[]", RunOf(1, 1)).status().message(), HasSubstr("not a JSON report"));
  EXPECT_FALSE(CompareWithReport("f", "{", RunOf(1, 1)).ok());
}

TEST(BenchComparison, IsInEveryFormOfAReport) {
  BenchReport report{.title = "t", .settings = {}, .tenants = {}, .run = RunOf(300, 0.1), .repeats = 1, .ledger = {}};
  const std::vector<BenchRun> ours = {RunOf(300, 0.1)};
  const std::vector<BenchRun> theirs = {RunOf(100, 0.4)};
  report.comparisons = {CompareRuns("http://b/<v1>", ours, theirs)};
  report.run.errors = {{.name = "429 <queue>|full", .count = 7}};
  EXPECT_THAT(MarkdownReport(report), HasSubstr("## Beside http://b/<v1>"));
  EXPECT_THAT(MarkdownReport(report), HasSubstr("429 <queue>\\|full"));
  EXPECT_THAT(JsonReport(report), HasSubstr("\"times_better\": 3.0"));
  EXPECT_THAT(JsonReport(report), HasSubstr("\"429 <queue>|full\": 7"));
  EXPECT_THAT(HtmlReport(report), HasSubstr("http://b/&lt;v1&gt;"));
  EXPECT_THAT(HtmlReport(report), HasSubstr("429 &lt;queue&gt;|full"));
  EXPECT_THAT(HtmlReport(report), testing::Not(HasSubstr("Pages")));
}

}  // namespace
}  // namespace adit::cli
