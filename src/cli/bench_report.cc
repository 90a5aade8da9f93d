#include "cli/bench_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace adit::cli {

double LedgerMetric::worth() const {
  const double better = lower_is_better ? without : with;
  const double worse = lower_is_better ? with : without;
  return worse > 0.0 && better > 0.0 ? better / worse : 0.0;
}

namespace {

ReportedNumber Count(std::string_view key, std::string_view label, int64_t value) {
  return {key, label, static_cast<double>(value), 0, ""};
}
ReportedNumber Percent(std::string_view key, std::string_view label, double share) {
  return {key, label, 100.0 * share, 2, "%"};
}

// What only whoever runs the engine knows.
std::vector<ReportedNumber> EngineNumbersOf(const sched::LoadSummary& summary) {
  return {Count("steps", "steps", summary.steps),
          {"mean_running", "sequences at once, mean", summary.mean_running, 1, ""},
          {"mean_prompt_steps", "steps of a prompt, mean", summary.mean_chunks, 2, ""},
          Count("preemptions", "preemptions", summary.preemptions),
          Count("recomputed_tokens", "tokens computed again", summary.recomputed_tokens),
          Percent("page_utilisation_mean_percent", "pages in use, mean", summary.pages.mean_utilisation),
          Percent("page_utilisation_max_percent", "pages in use, most", summary.pages.max_utilisation),
          Percent("page_waste_mean_percent", "held but unwritten, mean", summary.pages.mean_waste),
          Percent("page_waste_at_peak_percent", "held but unwritten, at the peak", summary.pages.waste_at_peak),
          {"fairness_gap", "fairness gap, largest", summary.fairness.largest_gap, 1, ""},
          {"fairness_bound", "fairness bound", summary.fairness.bound, 1, ""}};
}

// What only a client knows.
std::vector<ReportedNumber> ClientNumbersOf(const sched::LoadSummary& summary) {
  return {{"mean_running", "answers that come at once, mean", summary.mean_running, 1, ""},
          Count("pieces", "pieces of streams", summary.pieces),
          {"sent_late_most_ms", "sent after its time, most", summary.late_most_s * 1e3, 1, "ms"}};
}

}  // namespace

std::vector<ReportedNumber> NumbersOf(const sched::LoadSummary& summary) {
  using sched::Ending;
  std::vector<ReportedNumber> numbers = {
      {"duration_s", "duration", summary.duration_s, 3, "s"},
      Count("requests", "requests", summary.requests),
      Count("completed", "completed", summary.ended(Ending::kComplete)),
      Count("refused_too_long", "refused: too long", summary.ended(Ending::kTooLong)),
      Count("refused_queue_full", "refused: queue full", summary.ended(Ending::kQueueFull)),
      Count("refused_late", "refused: too late", summary.ended(Ending::kLate)),
      Count("failed", "failed", summary.ended(Ending::kFailed) + summary.ended(Ending::kCancelled)),
      Count("skipped", "skipped turns", summary.ended(Ending::kSkipped)),
      {"requests_per_s", "requests", summary.requests_per_s, 3, "/s"},
      {"output_tokens_per_s", "output tokens", summary.output_tokens_per_s, 1, "/s"},
      {"prompt_tokens_per_s", "prompt tokens", summary.prompt_tokens_per_s, 1, "/s"},
      {"total_tokens_per_s", "all tokens", summary.output_tokens_per_s + summary.prompt_tokens_per_s, 1, "/s"},
      Count("output_tokens", "output tokens", summary.output_tokens),
      Count("prompt_tokens", "prompt tokens", summary.prompt_tokens),
      Count("cached_prompt_tokens", "prompt tokens from the cache", summary.cached_tokens),
      Percent("prefix_hit_percent", "prefix cache hits", summary.cached_share)};
  const std::vector<ReportedNumber> more = summary.from_outside ? ClientNumbersOf(summary) : EngineNumbersOf(summary);
  numbers.insert(numbers.end(), more.begin(), more.end());
  if (summary.objectives.any()) {
    numbers.push_back(Count("met_objectives", "requests within objectives", summary.met_objectives));
    numbers.push_back({"goodput_requests_per_s", "requests within objectives", summary.goodput_per_s, 3, "/s"});
  }
  return numbers;
}

std::vector<ReportedSpread> SpreadsOf(const sched::LoadSummary& summary) {
  std::vector<ReportedSpread> spreads = {{"ttft", "time to first token", "ms", 1e3, summary.ttft_s},
                                         {"itl", "inter-token latency", "ms", 1e3, summary.itl_s},
                                         {"tpot", "time per output token", "ms", 1e3, summary.tpot_s}};
  if (!summary.from_outside) spreads.push_back({"queue", "wait for the first step", "ms", 1e3, summary.queue_s});
  spreads.push_back({"e2e", "end to end", "s", 1.0, summary.e2e_s});
  return spreads;
}

std::string FormatNumber(double value, int decimals) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const size_t point = std::min(text.find('.'), text.size());
  for (size_t i = point; i > 3; i -= 3) text.insert(i - 3, 1, ',');
  const bool is_zero = text.find_first_not_of("0.,") == std::string::npos;
  return value < 0.0 && !is_zero ? "-" + text : text;
}

std::string LedgerText(double value) {
  const double size = std::abs(value);
  return FormatNumber(value, size >= 100.0 ? 0 : size >= 10.0 ? 1 : size >= 1.0 ? 2 : 3);
}

std::string LabelOf(std::string_view key) {
  std::string label(key);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

std::string SettingText(const BenchSetting& setting) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) return value;
        if constexpr (std::is_same_v<T, bool>) return value ? "on" : "off";
        if constexpr (std::is_arithmetic_v<T>) return fmt::format("{}", value);
      },
      setting.value);
}

std::string WorthText(double worth) { return worth > 0.0 ? fmt::format("{:.2f}x", worth) : "-"; }

std::string RenderReport(const BenchReport& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::kJson:
      return JsonReport(report);
    case ReportFormat::kHtml:
      return HtmlReport(report);
    case ReportFormat::kMarkdown:
      break;
  }
  return MarkdownReport(report);
}

}  // namespace adit::cli
