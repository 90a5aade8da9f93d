// MarkdownReport.
#include <fmt/core.h>

#include <algorithm>

#include "cli/bench_report.h"
#include "cli/printable.h"

namespace adit::cli {
namespace {

// Rows of cells, the first one the heads, laid out so that the source reads as a table too. All columns but the first
// are numbers.
std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? fmt::format("| {:<{}} ", row[i], widths[i]) : fmt::format("| {:>{}} ", row[i], widths[i]);
    }
    text += "|\n";
  };
  add_row(rows.front());
  for (size_t i = 0; i < widths.size(); ++i) {
    text += '|';
    text.append(widths[i] + (i == 0 ? 2 : 1), '-');
    if (i > 0) text += ':';
  }
  text += "|\n";
  for (size_t i = 1; i < rows.size(); ++i) add_row(rows[i]);
  return text;
}

// On one line, and no column of its own.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : OneLine(text)) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string SettingsTable(const BenchReport& report) {
  std::vector<std::vector<std::string>> rows = {{"setting", "value"}};
  for (const BenchSetting& setting : report.settings)
    rows.push_back({LabelOf(setting.key), Cell(SettingText(setting))});
  return Table(rows);
}

std::string NumbersTable(const sched::LoadSummary& summary) {
  std::vector<std::vector<std::string>> rows = {{"measure", "value"}};
  for (const ReportedNumber& number : NumbersOf(summary)) {
    const std::string_view space = number.unit.empty() || number.unit.front() == '/' ? "" : " ";
    rows.push_back({std::string(number.label),
                    fmt::format("{}{}{}", FormatNumber(number.value, number.decimals), space, number.unit)});
  }
  return Table(rows);
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
  return Table(rows);
}

std::string TenantsTable(const BenchReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"tenant", "requests", "completed", "output tokens", "TTFT mean (ms)", "TTFT p99 (ms)", "end to end mean (s)"}};
  for (size_t i = 0; i < report.tenants.size(); ++i) {
    const sched::TenantSummary& tenant = report.run.summary.tenants[i];
    rows.push_back({Cell(report.tenants[i]), FormatNumber(static_cast<double>(tenant.requests), 0),
                    FormatNumber(static_cast<double>(tenant.completed), 0),
                    FormatNumber(static_cast<double>(tenant.output_tokens), 0),
                    FormatNumber(tenant.ttft_s.mean * 1e3, 1), FormatNumber(tenant.ttft_s.p99 * 1e3, 1),
                    FormatNumber(tenant.e2e_s.mean, 3)});
  }
  return Table(rows);
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
  std::string text = Table(rows);
  text += "\nWithout: ";
  for (size_t i = 0; i < report.ledger.size(); ++i) {
    text += fmt::format("{}{}, {}", i == 0 ? "" : "; ", LabelOf(report.ledger[i].technique), report.ledger[i].instead);
  }
  return text + ".\n";
}

}  // namespace

std::string MarkdownReport(const BenchReport& report) {
  std::string text = fmt::format("# {}\n\n", OneLine(report.title));
  text += NumbersTable(report.run.summary) + "\n" + SpreadsTable(report.run.summary);
  if (report.tenants.size() > 1) text += fmt::format("\n{}", TenantsTable(report));
  if (!report.ledger.empty()) {
    text += "\n## What each technique is worth\n\n";
    if (report.repeats > 1) text += fmt::format("Medians of {} runs.\n\n", report.repeats);
    text += LedgerTable(report);
  }
  return text + "\n## Settings\n\n" + SettingsTable(report);
}

}  // namespace adit::cli
