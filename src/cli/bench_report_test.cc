#include "cli/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/bench_run.h"
#include "cli/svg_plot.h"
#include "sched/simulator.h"

namespace adit::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kHostile[] = "<script>alert('x')</script>|\"&\x1b[2J\xff";

BenchOptions SmallLoad() {
  BenchOptions options;
  options.num_prompts = 40;
  options.workload.requests_per_s = 100.0;
  options.input_len = *sched::LengthDistribution::Parse("uniform:10:80");
  options.output_len = *sched::LengthDistribution::Parse("lognormal:30:0.8:1:200");
  options.workload.shared_prefix_tokens = 64;
  options.workload.tenants = {{.name = kHostile}, {.name = "b"}};
  options.scheduler.max_context = 4096;
  options.scheduler.max_num_seqs = 8;
  options.ablate = true;
  return options;
}

BenchReport SmallReport(const BenchOptions& options) {
  const Result<sched::Workload> workload = MakeWorkload(options, 1000);
  EXPECT_TRUE(workload.ok()) << workload.status().ToString();
  const ServeLoad serve = [&](const sched::SchedulerOptions& scheduler, const LoadProgress&) -> Result<BenchRun> {
    ADIT_ASSIGN_OR_RETURN(sched::SimulationResult result,
                          sched::Simulate(*workload, {.scheduler = scheduler, .num_pages = 512}));
    return BenchRun{.summary = result.summary, .timeline = result.timeline.Points()};
  };
  Result<BenchReport> report = RunBench(options, *workload, serve);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  report->title = kHostile;
  report->settings.push_back({"model", std::string(kHostile)});
  return *std::move(report);
}

TEST(BenchReport, TheLedgerHasARowForEachTechniqueThatIsOn) {
  BenchOptions options = SmallLoad();
  const auto techniques = [](const BenchReport& report) {
    std::vector<std::string> names;
    for (const LedgerRow& row : report.ledger) names.push_back(row.technique);
    return names;
  };
  const BenchReport all = SmallReport(options);
  EXPECT_THAT(techniques(all), ElementsAre("batching", "continuous_batching", "prefix_cache", "chunked_prefill"));
  EXPECT_EQ(all.ledger[0].metrics.front().key, "output_tokens_per_s");
  EXPECT_GT(all.ledger[0].metrics.front().worth(), 2.0);
  EXPECT_EQ(all.ledger[2].metrics.front().key, "ttft_mean_ms");
  EXPECT_GT(all.ledger[2].metrics.front().worth(), 1.0);
  options.scheduler.prefix_cache = false;
  options.scheduler.chunked_prefill = false;
  options.scheduler.policy = sched::Policy::kSjf;
  EXPECT_THAT(techniques(SmallReport(options)), ElementsAre("batching", "continuous_batching", "policy"));
  options.ablate = false;
  EXPECT_TRUE(SmallReport(options).ledger.empty());
}

TEST(BenchReport, RunsAreInterleavedAndTheMiddleOneIsTold) {
  BenchOptions options = SmallLoad();
  options.repeat = 3;
  options.scheduler.max_num_seqs = 1;
  options.scheduler.prefix_cache = false;  // chunked prefill is the one technique left
  const Result<sched::Workload> workload = MakeWorkload(options, 1000);
  ASSERT_TRUE(workload.ok());
  std::vector<bool> order;
  const ServeLoad serve = [&](const sched::SchedulerOptions& scheduler, const LoadProgress&) -> Result<BenchRun> {
    order.push_back(scheduler.chunked_prefill);
    BenchRun run;
    run.summary.output_tokens_per_s = std::vector<double>{30, 1, 10, 3, 20, 2}[order.size() - 1];
    run.summary.itl_s.p99 = scheduler.chunked_prefill ? 1.0 : 4.0;
    return run;
  };
  const Result<BenchReport> report = RunBench(options, *workload, serve);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(order, ElementsAre(true, false, true, false, true, false));
  EXPECT_EQ(report->run.summary.output_tokens_per_s, 20.0);
  ASSERT_EQ(report->ledger.size(), 1u);
  EXPECT_EQ(report->ledger[0].metrics[0].worth(), 4.0);
  EXPECT_EQ(report->ledger[0].metrics[1].with, 20.0);
  EXPECT_EQ(report->ledger[0].metrics[1].without, 2.0);
}

TEST(BenchReport, AnErrorOfARunIsTheErrorOfTheBenchmark) {
  const BenchOptions options = SmallLoad();
  const Result<sched::Workload> workload = MakeWorkload(options, 1000);
  const ServeLoad serve = [](const sched::SchedulerOptions&, const LoadProgress&) -> Result<BenchRun> {
    return Status(StatusCode::kInternal, "broken");
  };
  EXPECT_EQ(RunBench(options, *workload, serve).status().message(), "broken");
}

TEST(BenchReport, JsonHasOneKeyForEachNumber) {
  const BenchReport report = SmallReport(SmallLoad());
  const auto json = nlohmann::json::parse(JsonReport(report));
  EXPECT_EQ(json.at("requests"), 40);
  EXPECT_EQ(json.at("completed"), 40);
  EXPECT_DOUBLE_EQ(json.at("output_tokens_per_s").get<double>(), report.run.summary.output_tokens_per_s);
  for (const char* key : {"requests_per_s", "prompt_tokens_per_s", "ttft_p99_ms", "itl_p99_ms", "tpot_mean_ms",
                          "queue_p50_ms", "e2e_p90_s", "mean_e2e_s", "prefix_hit_percent", "preemptions",
                          "page_waste_mean_percent", "fairness_gap", "duration_s"}) {
    EXPECT_TRUE(json.at(key).is_number()) << key;
  }
  EXPECT_EQ(json.at("settings").at("max_num_seqs"), 8);
  EXPECT_EQ(json.at("settings").at("prefix_cache"), true);
  EXPECT_EQ(json.at("tenants").size(), 2u);
  EXPECT_EQ(json.at("timeline").at("running").size(), report.run.timeline.size());
  EXPECT_EQ(json.at("ablation").size(), 16u);
  EXPECT_EQ(json.at("ablation")[0].at("technique"), "batching");
  EXPECT_EQ(json.at("ablation")[0].at("primary"), true);
}

TEST(BenchReport, JsonWritesNoInfinities) {
  BenchReport report;
  report.run.summary.ttft_s.mean = std::numeric_limits<double>::infinity();
  report.settings.push_back({"limit", std::numeric_limits<double>::infinity()});
  const auto json = nlohmann::json::parse(JsonReport(report));
  EXPECT_TRUE(json.at("ttft_mean_ms").is_null());
  EXPECT_TRUE(json.at("settings").at("limit").is_null());
}

TEST(BenchReport, MarkdownTablesKeepTheirColumns) {
  const std::string text = MarkdownReport(SmallReport(SmallLoad()));
  EXPECT_THAT(text, HasSubstr("| time to first token (ms)"));
  EXPECT_THAT(text, HasSubstr("## What each technique is worth"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  // Within a table all lines have the same bars that are not escaped.
  const std::regex bar(R"((^|[^\\])\|)");
  std::istringstream lines(text);
  std::ptrdiff_t columns = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::ptrdiff_t count = std::distance(std::sregex_iterator(line.begin(), line.end(), bar), {});
    if (line.empty() || line[0] != '|') {
      columns = 0;
    } else if (columns == 0) {
      columns = count;
    } else {
      ASSERT_EQ(count, columns) << line;
    }
  }
}

TEST(BenchReport, HtmlStandsAloneAndEscapesAllText) {
  const std::string html = HtmlReport(SmallReport(SmallLoad()));
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  EXPECT_FALSE(std::regex_search(html, std::regex("[^a-z](nan|inf)[^a-z]")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("width=device-width"));
  EXPECT_THAT(html, HasSubstr("scope=\"col\""));
  const std::regex svg("<svg [^>]*role=\"img\" aria-label=\"");
  EXPECT_EQ(std::distance(std::sregex_iterator(html.begin(), html.end(), svg), {}), 6);
}

TEST(BenchReport, HtmlTagsAreBalanced) {
  const std::string html = HtmlReport(SmallReport(SmallLoad()));
  std::vector<std::string> open;
  const std::regex tag(R"(<(/?)([a-z0-9]+)((?:[^>"]|"[^"]*")*?)(/?)>)");
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (name == "meta" || (*it)[4] == "/") continue;
    if ((*it)[1] != "/") {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ(open.back(), name) << it->position();
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(BenchReport, OfNothingIsStillAReport) {
  const BenchReport report;
  EXPECT_THAT(MarkdownReport(report), HasSubstr("requests"));
  EXPECT_THAT(HtmlReport(report), Not(HasSubstr("<svg")));
  EXPECT_EQ(nlohmann::json::parse(JsonReport(report)).at("requests"), 0);
}

TEST(BenchReport, NumbersAreGroupedByThousands) {
  EXPECT_EQ(FormatNumber(0.0, 0), "0");
  EXPECT_EQ(FormatNumber(999.0, 0), "999");
  EXPECT_EQ(FormatNumber(1000.0, 0), "1,000");
  EXPECT_EQ(FormatNumber(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(FormatNumber(-1234.5, 1), "-1,234.5");
  EXPECT_EQ(FormatNumber(-0.001, 1), "0.0");
}

TEST(LedgerMetric, WorthIsHowManyTimesBetter) {
  EXPECT_EQ((LedgerMetric{.key = {}, .label = {}, .lower_is_better = false, .with = 6, .without = 2}.worth()), 3.0);
  EXPECT_EQ((LedgerMetric{.key = {}, .label = {}, .lower_is_better = true, .with = 6, .without = 3}.worth()), 0.5);
  EXPECT_EQ((LedgerMetric{.key = {}, .label = {}, .lower_is_better = true, .with = 6, .without = 0}.worth()), 0.0);
}

TEST(BenchWorkload, DatasetsHaveTheirLengths) {
  BenchOptions options;
  EXPECT_EQ(MakeWorkload(options, 10)->request(0).num_new_tokens(), 512);
  EXPECT_EQ(MakeWorkload(options, 10)->request(0).output_tokens, 128);
  EXPECT_EQ(MakeWorkload(options, 10)->num_requests(), 100);
  options.input_len = sched::LengthDistribution::Fixed(7);
  EXPECT_EQ(MakeWorkload(options, 10)->request(0).num_new_tokens(), 7);
  options.dataset = "chat";
  EXPECT_NE(MakeWorkload(options, 10)->request(0).output_tokens, MakeWorkload(options, 10)->request(1).output_tokens);
}

TEST(BenchWorkload, ATraceTakesNoFlagsThatContradictIt) {
  BenchOptions options;
  options.dataset = "/nowhere/trace.jsonl";
  EXPECT_THAT(MakeWorkload(options, 10).status().message(), HasSubstr("/nowhere/trace.jsonl"));
  options.workload.turns = 2;
  EXPECT_THAT(MakeWorkload(options, 10).status().message(), HasSubstr("--num-prompts and --seed"));
}

TEST(SvgPlot, DrawsNothingWithoutData) {
  EXPECT_EQ(SvgBars("t", {}, 1.0), "");
  EXPECT_EQ(SvgTimeHistogram("t", {}), "");
  EXPECT_EQ(SvgLinePlot({.title = "t", .x_label = {}, .y_label = {}, .x = {1.0}, .series = {{"a", {1.0}}}}), "");
}

TEST(SvgPlot, LinesReachFromTheFirstPointToTheLast) {
  const std::string svg = SvgLinePlot(
      {.title = "t", .x_label = "s", .y_label = "y", .x = {0.0, 1.0, 2.0}, .series = {{"a<b", {0.0, 5.0, 10.0}}}});
  EXPECT_THAT(svg, HasSubstr("points=\"52.0,200.0 230.0,115.0 408.0,30.0 \""));
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
}

TEST(SvgPlot, HistogramsReachTheEndsOfTheirAxis) {
  for (const double seconds : {1e-9, 1e-6, 0.02, 3.0, 9e3, 1e9}) {
    sched::TimeHistogram histogram;
    histogram.Add(seconds);
    const std::string svg = SvgTimeHistogram("t", histogram);
    EXPECT_THAT(svg, HasSubstr("<rect")) << seconds;
    EXPECT_THAT(svg, Not(HasSubstr("x=\"-"))) << seconds;
  }
}

}  // namespace
}  // namespace adit::cli
