// MarkdownReport.
#include <fmt/core.h>

#include "cli/bench_report.h"
#include "cli/markdown_table.h"
#include "cli/printable.h"

namespace adit::cli {
namespace {

std::string SettingsTable(const BenchReport& report) {
  std::vector<std::vector<std::string>> rows = {{"setting", "value"}};
  for (const BenchSetting& setting : report.settings)
    rows.push_back({LabelOf(setting.key), MarkdownCell(SettingText(setting))});
  return MarkdownTable(rows);
}

std::string NumbersTable(const sched::LoadSummary& summary) {
  std::vector<std::vector<std::string>> rows = {{"measure", "value"}};
  for (const ReportedNumber& number : NumbersOf(summary)) {
    const std::string_view space = number.unit.empty() || number.unit.front() == '/' ? "" : " ";
    rows.push_back({std::string(number.label),
                    fmt::format("{}{}{}", FormatNumber(number.value, number.decimals), space, number.unit)});
  }
  return MarkdownTable(rows);
}

std::vector<std::string> SpreadCells(std::string label, const sched::Spread& spread, double scale, int decimals) {
  std::vector<std::string> cells = {std::move(label)};
  for (const double value : {spread.mean, spread.p50, spread.p90, spread.p99, spread.max}) {
    cells.push_back(FormatNumber(value * scale, decimals));
  }
  return cells;
}

std::string SpreadsTable(const sched::LoadSummary& summary) {
  std::vector<std::vector<std::string>> rows = {{"latency", "mean", "p50", "p90", "p99", "max"}};
  for (const ReportedSpread& reported : SpreadsOf(summary)) {
    rows.push_back(SpreadCells(fmt::format("{} ({})", reported.label, reported.unit), reported.spread, reported.scale,
                               reported.unit == "s" ? 3 : 1));
  }
  return MarkdownTable(rows);
}

std::string TenantsTable(const BenchReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"tenant", "requests", "completed", "output tokens", "TTFT mean (ms)", "TTFT p99 (ms)", "end to end mean (s)"}};
  for (size_t i = 0; i < report.tenants.size(); ++i) {
    const sched::TenantSummary& tenant = report.run.summary.tenants[i];
    rows.push_back({MarkdownCell(report.tenants[i]), FormatNumber(static_cast<double>(tenant.requests), 0),
                    FormatNumber(static_cast<double>(tenant.completed), 0),
                    FormatNumber(static_cast<double>(tenant.output_tokens), 0),
                    FormatNumber(tenant.ttft_s.mean * 1e3, 1), FormatNumber(tenant.ttft_s.p99 * 1e3, 1),
                    FormatNumber(tenant.e2e_s.mean, 3)});
  }
  return MarkdownTable(rows);
}

std::string LedgerTable(const BenchReport& report) {
  std::vector<std::vector<std::string>> rows = {{"technique", "measure", "with", "without", "worth"}};
  for (const LedgerRow& row : report.ledger) {
    for (size_t i = 0; i < row.metrics.size(); ++i) {
      const LedgerMetric& metric = row.metrics[i];
      rows.push_back({i == 0 ? LabelOf(row.technique) : std::string(), metric.label, LedgerText(metric.with),
                      LedgerText(metric.without), WorthText(metric.worth())});
    }
  }
  std::string text = MarkdownTable(rows);
  text += "\nWithout: ";
  for (size_t i = 0; i < report.ledger.size(); ++i) {
    text += fmt::format("{}{}, {}", i == 0 ? "" : "; ", LabelOf(report.ledger[i].technique), report.ledger[i].instead);
  }
  return text + ".\n";
}

std::string ErrorsTable(const std::vector<BenchError>& errors) {
  std::vector<std::vector<std::string>> rows = {{"error", "requests"}};
  for (const BenchError& error : errors) {
    rows.push_back({MarkdownCell(error.name), FormatNumber(static_cast<double>(error.count), 0)});
  }
  return MarkdownTable(rows);
}

std::string ComparisonText(const BenchComparison& comparison) {
  std::vector<std::vector<std::string>> rows = {{"measure", "this", "that", "times better", "least", "most"}};
  for (const ComparisonRow& row : comparison.rows) {
    rows.push_back({row.label, LedgerText(row.ours), LedgerText(row.theirs), WorthText(row.times_better),
                    WorthText(row.least), WorthText(row.most)});
  }
  std::string text =
      fmt::format("\n## Beside {}\n\n{}", OneLine(comparison.with),
                  comparison.rounds > 1 ? fmt::format("Medians of {} rounds.\n\n", comparison.rounds) : std::string());
  text += MarkdownTable(rows);
  if (!comparison.errors.empty()) text += fmt::format("\n{}", ErrorsTable(comparison.errors));
  return text;
}

}  // namespace

std::string MarkdownReport(const BenchReport& report) {
  std::string text = fmt::format("# {}\n\n", OneLine(report.title));
  text += NumbersTable(report.run.summary) + "\n" + SpreadsTable(report.run.summary);
  if (!report.run.errors.empty()) text += fmt::format("\n{}", ErrorsTable(report.run.errors));
  for (const BenchComparison& comparison : report.comparisons) text += ComparisonText(comparison);
  if (report.tenants.size() > 1) text += fmt::format("\n{}", TenantsTable(report));
  if (!report.ledger.empty()) {
    text += "\n## What each technique is worth\n\n";
    if (report.repeats > 1) text += fmt::format("Medians of {} runs.\n\n", report.repeats);
    text += LedgerTable(report);
  }
  return text + "\n## Settings\n\n" + SettingsTable(report);
}

}  // namespace adit::cli
