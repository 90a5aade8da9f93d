#ifndef ADIT_CLI_BENCH_REPORT_H_
#define ADIT_CLI_BENCH_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sched/load_summary.h"
#include "sched/timeline.h"

// What `adit bench` found, and the three ways to tell it.
namespace adit::cli {

// One thing that was chosen for the run; key in snake_case.
struct BenchSetting {
  std::string key;
  std::variant<int64_t, double, bool, std::string> value;
};

// Requests that have failed in one way.
struct BenchError {
  std::string name;  // "429 queue_full"
  int64_t count = 0;
};

// One run of a workload.
struct BenchRun {
  sched::LoadSummary summary;
  std::vector<sched::TimelinePoint> timeline;
  std::vector<BenchError> errors;  // of those that a server told of, and of connections to it
};

// A number with and without a technique.
struct LedgerMetric {
  std::string key;  // as in the JSON report: "output_tokens_per_s"
  std::string label;
  bool lower_is_better = false;
  double with = 0.0;
  double without = 0.0;
  // How many times better it is with the technique; 0 when it cannot be told.
  double worth() const;
};

// What a technique is worth to a workload.
struct LedgerRow {
  std::string technique;              // "prefix_cache"
  std::string instead;                // what takes its place: "every prompt computed whole"
  std::vector<LedgerMetric> metrics;  // the one that it is for first
};

// A number of this run beside that of another.
struct ComparisonRow {
  std::string key;  // as in the JSON report
  std::string label;
  double ours = 0.0;
  double theirs = 0.0;
  // How many times better ours is: over all rounds, of which each compares two runs; 0 where it cannot be told.
  double times_better = 0.0;  // the median
  double least = 0.0;
  double most = 0.0;
};

struct BenchComparison {
  std::string with;  // a server, or a file with an earlier report
  int64_t rounds = 1;
  std::vector<ComparisonRow> rows;
  std::vector<BenchError> errors;  // of the other, over all rounds
};

struct BenchReport {
  std::string title;
  std::vector<BenchSetting> settings;
  std::vector<std::string> tenants;  // their names, in the order of LoadSummary::tenants
  BenchRun run;
  int64_t repeats = 1;  // of which the ledger tells medians
  std::vector<LedgerRow> ledger;
  std::vector<BenchComparison> comparisons;
};

enum class ReportFormat : uint8_t { kMarkdown, kJson, kHtml };

// Tables for people.
std::string MarkdownReport(const BenchReport& report);
// One object: each number under a key of its own, "settings", "timeline", "tenants" and "ablation" beside them. UTF-8;
// bytes that are none become U+FFFD.
std::string JsonReport(const BenchReport& report);
// A page that needs nothing else: tables and plots, for light and dark, for wide and narrow screens.
std::string HtmlReport(const BenchReport& report);
std::string RenderReport(const BenchReport& report, ReportFormat format);

// What the reports have in common.

// A number of a run.
struct ReportedNumber {
  std::string_view key;
  std::string_view label;
  double value = 0.0;
  int decimals = 0;
  std::string_view unit;
};
std::vector<ReportedNumber> NumbersOf(const sched::LoadSummary& summary);

// A distribution of a run; `scale` makes `unit` of seconds.
struct ReportedSpread {
  std::string_view key;
  std::string_view label;
  std::string_view unit;
  double scale = 1.0;
  sched::Spread spread;
};
std::vector<ReportedSpread> SpreadsOf(const sched::LoadSummary& summary);

// "12,345.6", for people.
std::string FormatNumber(double value, int decimals);
// A number of a ledger: three digits that count, or more before the point.
std::string LedgerText(double value);
// "max num seqs", of a key.
std::string LabelOf(std::string_view key);
std::string SettingText(const BenchSetting& setting);
// "3.21x", or "-" for 0.
std::string WorthText(double worth);

}  // namespace adit::cli

#endif  // ADIT_CLI_BENCH_REPORT_H_
