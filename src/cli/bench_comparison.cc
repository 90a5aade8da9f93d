#include "cli/bench_comparison.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/bench_run.h"

namespace adit::cli {
namespace {

struct ServedMeasure {
  std::string_view key;
  std::string_view label;
  bool lower_is_better;
  double (*value)(const sched::LoadSummary&);
};

using Summary = sched::LoadSummary;
constexpr ServedMeasure kServedMeasures[] = {
    {"requests_per_s", "requests/s", false, [](const Summary& s) { return s.requests_per_s; }},
    {"output_tokens_per_s", "output tokens/s", false, [](const Summary& s) { return s.output_tokens_per_s; }},
    {"goodput_requests_per_s", "requests within objectives/s", false, [](const Summary& s) { return s.goodput_per_s; }},
    {"ttft_p50_ms", "TTFT p50 (ms)", true, [](const Summary& s) { return s.ttft_s.p50 * 1e3; }},
    {"ttft_p99_ms", "TTFT p99 (ms)", true, [](const Summary& s) { return s.ttft_s.p99 * 1e3; }},
    {"itl_p50_ms", "ITL p50 (ms)", true, [](const Summary& s) { return s.itl_s.p50 * 1e3; }},
    {"itl_p99_ms", "ITL p99 (ms)", true, [](const Summary& s) { return s.itl_s.p99 * 1e3; }},
    {"tpot_p50_ms", "TPOT p50 (ms)", true, [](const Summary& s) { return s.tpot_s.p50 * 1e3; }},
    {"e2e_p50_s", "end to end p50 (s)", true, [](const Summary& s) { return s.e2e_s.p50; }},
    {"e2e_p99_s", "end to end p99 (s)", true, [](const Summary& s) { return s.e2e_s.p99; }},
};

// 0 where one of the two has nothing.
double TimesBetter(const ServedMeasure& measure, double ours, double theirs) {
  if (!(ours > 0.0) || !(theirs > 0.0)) return 0.0;
  return measure.lower_is_better ? theirs / ours : ours / theirs;
}

ComparisonRow RowOf(const ServedMeasure& measure, std::span<const double> ours, std::span<const double> theirs) {
  std::vector<double> better;
  for (size_t i = 0; i < ours.size(); ++i) better.push_back(TimesBetter(measure, ours[i], theirs[i]));
  const auto [least, most] = std::minmax_element(better.begin(), better.end());
  return {.key = std::string(measure.key),
          .label = std::string(measure.label),
          .ours = MedianOf({ours.begin(), ours.end()}),
          .theirs = MedianOf({theirs.begin(), theirs.end()}),
          .times_better = MedianOf(better),
          .least = *least,
          .most = *most};
}

}  // namespace

BenchComparison CompareRuns(const std::string& with, std::span<const BenchRun> ours, std::span<const BenchRun> theirs) {
  BenchComparison comparison{.with = with, .rounds = static_cast<int64_t>(ours.size()), .rows = {}, .errors = {}};
  for (const ServedMeasure& measure : kServedMeasures) {
    if (measure.key == "goodput_requests_per_s" && !ours.front().summary.objectives.any()) continue;
    std::vector<double> first;
    std::vector<double> second;
    for (size_t i = 0; i < ours.size(); ++i) {
      first.push_back(measure.value(ours[i].summary));
      second.push_back(measure.value(theirs[i].summary));
    }
    comparison.rows.push_back(RowOf(measure, first, second));
  }
  std::map<std::string, int64_t> errors;
  for (const BenchRun& run : theirs) {
    for (const BenchError& error : run.errors) errors[error.name] += error.count;
  }
  for (const auto& [name, count] : errors) comparison.errors.push_back({.name = name, .count = count});
  return comparison;
}

Result<BenchComparison> CompareWithReport(const std::string& with, const std::string& earlier, const BenchRun& ours) {
  const nlohmann::json before = nlohmann::json::parse(earlier, nullptr, /*allow_exceptions=*/false);
  if (!before.is_object() || !before.contains("output_tokens_per_s")) {
    return InvalidArgument("--compare: not a JSON report of this command; make one with '-o json'");
  }
  BenchComparison comparison{.with = with, .rounds = 1, .rows = {}, .errors = {}};
  for (const ServedMeasure& measure : kServedMeasures) {
    const auto found = before.find(std::string(measure.key));
    if (found == before.end() || !found->is_number()) continue;
    const double now = measure.value(ours.summary);
    const double then = found->get<double>();
    comparison.rows.push_back(RowOf(measure, std::span(&now, 1), std::span(&then, 1)));
  }
  return comparison;
}

}  // namespace adit::cli
