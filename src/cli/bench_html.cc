// HtmlReport.
#include <fmt/core.h>

#include <algorithm>

#include "cli/bench_report.h"
#include "cli/html_page.h"
#include "cli/svg_plot.h"

namespace adit::cli {
namespace {

std::vector<std::string> SpreadCells(const sched::Spread& spread, double scale, int decimals) {
  std::vector<std::string> cells;
  for (const double value : {spread.mean, spread.p50, spread.p90, spread.p99, spread.max}) {
    cells.push_back(FormatNumber(value * scale, decimals));
  }
  return cells;
}

std::string Tiles(const sched::LoadSummary& summary) {
  const auto tile = [](std::string_view label, const std::string& value) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", label, value);
  };
  return "<dl class=\"tiles\">\n" + tile("output tokens / s", FormatNumber(summary.output_tokens_per_s, 1)) +
         tile("requests / s", FormatNumber(summary.requests_per_s, 2)) +
         tile("time to first token, p50", FormatNumber(summary.ttft_s.p50 * 1e3, 1) + " ms") +
         tile("inter-token latency, p99", FormatNumber(summary.itl_s.p99 * 1e3, 1) + " ms") +
         tile("end to end, mean", FormatNumber(summary.e2e_s.mean, 2) + " s") +
         tile("prefix cache hits", FormatNumber(100.0 * summary.cached_share, 1) + " %") + "</dl>\n";
}

// Means over so many stretches that a line of the plot stays readable.
std::vector<sched::TimelinePoint> Smoothed(const std::vector<sched::TimelinePoint>& points) {
  constexpr size_t kMaxPoints = 96;
  using Point = sched::TimelinePoint;
  constexpr double Point::*kMeans[] = {&Point::running,
                                       &Point::waiting,
                                       &Point::used_share,
                                       &Point::cached_share,
                                       &Point::prompt_tokens_per_s,
                                       &Point::output_tokens_per_s};
  const size_t stride = (points.size() + kMaxPoints - 1) / kMaxPoints;
  std::vector<Point> smooth;
  for (size_t begin = 0; begin < points.size(); begin += stride) {
    const size_t end = std::min(begin + stride, points.size());
    Point mean{.begin_s = points[begin].begin_s, .end_s = points[end - 1].end_s};
    for (size_t i = begin; i < end; ++i) {
      const double share = (points[i].end_s - points[i].begin_s) / (mean.end_s - mean.begin_s);
      for (const auto member : kMeans) mean.*member += share * points[i].*member;
    }
    smooth.push_back(mean);
  }
  return smooth;
}

std::string Timelines(const std::vector<sched::TimelinePoint>& timeline, bool from_outside) {
  const std::vector<sched::TimelinePoint> points = Smoothed(timeline);
  std::vector<double> x;
  LinePlot sequences{"Sequences", "seconds", "sequences", {}, {{"running", {}}, {"waiting", {}}}};
  LinePlot pages{"Pages, % of the pool", "seconds", "%", {}, {{"in use", {}}, {"cached prefixes", {}}}};
  LinePlot tokens{"Tokens per second", "seconds", "tokens/s", {}, {{"output", {}}, {"prompt, computed", {}}}};
  for (const sched::TimelinePoint& point : points) {
    x.push_back((point.begin_s + point.end_s) / 2.0);
    sequences.series[0].values.push_back(point.running);
    sequences.series[1].values.push_back(point.waiting);
    pages.series[0].values.push_back(100.0 * point.used_share);
    pages.series[1].values.push_back(100.0 * point.cached_share);
    tokens.series[0].values.push_back(point.output_tokens_per_s);
    tokens.series[1].values.push_back(point.prompt_tokens_per_s);
  }
  if (from_outside) {
    sequences = {"Requests", "seconds", "requests", {}, std::move(sequences.series)};
    sequences.series[0].name = "answers that come";
    tokens = {"Pieces of answers per second", "seconds", "pieces/s", {}, {std::move(tokens.series[0])}};
  }
  std::string html;
  for (LinePlot* plot : {&sequences, &pages, &tokens}) {
    if (from_outside && plot == &pages) continue;
    plot->x = x;
    html += Figure(plot->title, SvgLinePlot(*plot));
  }
  return html;
}

std::string Ledger(const BenchReport& report) {
  if (report.ledger.empty()) return {};
  std::vector<PlotBar> bars;
  HtmlTable table(report.repeats > 1 ? fmt::format("Medians of {} runs", report.repeats) : "One run each",
                  {"technique", "measure", "with", "without", "worth", "without it"});
  for (const LedgerRow& row : report.ledger) {
    const LedgerMetric& primary = row.metrics.front();
    bars.push_back({.label = fmt::format("{}: {}", LabelOf(row.technique), primary.label),
                    .value = primary.worth(),
                    .text = WorthText(primary.worth())});
    for (const LedgerMetric& metric : row.metrics) {
      table.Row(LabelOf(row.technique), {metric.label, LedgerText(metric.with), LedgerText(metric.without),
                                         WorthText(metric.worth()), row.instead});
    }
  }
  const std::string title = "How many times better with each technique than without";
  return "<h2>What each technique is worth</h2>\n" + Figure(title, SvgBars(title, bars, 1.0)) + table.Close();
}

std::string Errors(const std::vector<BenchError>& errors) {
  if (errors.empty()) return {};
  HtmlTable table("Requests that failed or were refused", {"error", "requests"});
  for (const BenchError& error : errors) {
    table.Row(error.name, {FormatNumber(static_cast<double>(error.count), 0)});
  }
  return table.Close();
}

std::string Comparison(const BenchComparison& comparison) {
  std::vector<PlotBar> bars;
  HtmlTable table(comparison.rounds > 1 ? fmt::format("Medians of {} rounds", comparison.rounds) : "One run each",
                  {"measure", "this", "that", "times better", "least", "most"});
  for (const ComparisonRow& row : comparison.rows) {
    bars.push_back({.label = row.label, .value = row.times_better, .text = WorthText(row.times_better)});
    table.Row(row.label, {LedgerText(row.ours), LedgerText(row.theirs), WorthText(row.times_better),
                          WorthText(row.least), WorthText(row.most)});
  }
  const std::string title = "How many times better than the other";
  return "<h2>Beside " + EscapeHtml(comparison.with) + "</h2>\n" + Figure(title, SvgBars(title, bars, 1.0)) +
         table.Close() + Errors(comparison.errors);
}

std::string Tables(const BenchReport& report) {
  const sched::LoadSummary& summary = report.run.summary;
  HtmlTable latencies("Latencies", {"latency", "mean", "p50", "p90", "p99", "max"});
  for (const ReportedSpread& reported : SpreadsOf(summary)) {
    latencies.Row(fmt::format("{} ({})", reported.label, reported.unit),
                  SpreadCells(reported.spread, reported.scale, reported.unit == "s" ? 3 : 1));
  }
  HtmlTable numbers("Counts and rates", {"measure", "value"});
  for (const ReportedNumber& number : NumbersOf(summary)) {
    numbers.Row(number.label, {fmt::format("{} {}", FormatNumber(number.value, number.decimals), number.unit)});
  }
  std::string html = "<h2>Numbers</h2>\n" + latencies.Close() + numbers.Close() + Errors(report.run.errors);
  if (report.tenants.size() > 1) {
    HtmlTable tenants("Tenants", {"tenant", "requests", "completed", "output tokens", "TTFT mean (ms)", "TTFT p99 (ms)",
                                  "end to end mean (s)"});
    for (size_t i = 0; i < report.tenants.size(); ++i) {
      const sched::TenantSummary& tenant = summary.tenants[i];
      tenants.Row(report.tenants[i], {FormatNumber(static_cast<double>(tenant.requests), 0),
                                      FormatNumber(static_cast<double>(tenant.completed), 0),
                                      FormatNumber(static_cast<double>(tenant.output_tokens), 0),
                                      FormatNumber(tenant.ttft_s.mean * 1e3, 1),
                                      FormatNumber(tenant.ttft_s.p99 * 1e3, 1), FormatNumber(tenant.e2e_s.mean, 3)});
    }
    html += tenants.Close();
  }
  HtmlTable settings("Settings", {"setting", "value"});
  for (const BenchSetting& setting : report.settings) {
    settings.Row(LabelOf(setting.key), {SettingText(setting)}, /*as_text=*/true);
  }
  return html + "<h2>How it was run</h2>\n" + settings.Close();
}

}  // namespace

std::string HtmlReport(const BenchReport& report) {
  const sched::LoadSummary& summary = report.run.summary;
  std::string html = Tiles(summary);
  html += "<div class=\"plots\">\n";
  html += Figure("Time to first token", SvgTimeHistogram("Time to first token", summary.ttft_histogram));
  html += Figure("Inter-token latency", SvgTimeHistogram("Inter-token latency", summary.itl_histogram));
  html += Timelines(report.run.timeline, summary.from_outside);
  html += "</div>\n";
  for (const BenchComparison& comparison : report.comparisons) html += Comparison(comparison);
  return HtmlPage(report.title, html + Ledger(report) + Tables(report));
}

}  // namespace adit::cli
