#include "sched/load_summary.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.h"
#include "base/error.h"
#include "sched/flag_text.h"

namespace adit::sched {
namespace {

constexpr std::array<std::string_view, kNumEndings> kEndingNames = {"complete",  "too_long", "queue_full", "late",
                                                                    "cancelled", "failed",   "skipped"};

// The times of completed requests, of all or of one tenant.
struct Times {
  std::vector<float> ttft;
  std::vector<float> tpot;
  std::vector<float> e2e;
  std::vector<float> queue;
};

double TokenInterval(const RequestOutcome& outcome) {
  if (outcome.output_tokens < 2) return 0.0;
  return (outcome.finish_s - outcome.first_token_s) / static_cast<double>(outcome.output_tokens - 1);
}

void AddTimes(const RequestOutcome& outcome, Times& times) {
  const auto since_arrival = [&](double time_s) { return static_cast<float>(time_s - outcome.arrival_s); };
  if (outcome.output_tokens > 0) times.ttft.push_back(since_arrival(outcome.first_token_s));
  if (outcome.output_tokens > 1) times.tpot.push_back(static_cast<float>(TokenInterval(outcome)));
  times.e2e.push_back(since_arrival(outcome.finish_s));
  times.queue.push_back(since_arrival(outcome.first_step_s));
}

bool Meets(const RequestOutcome& outcome, const Objectives& objectives) {
  return outcome.first_token_s - outcome.arrival_s <= objectives.first_token_s &&
         TokenInterval(outcome) <= objectives.token_interval_s;
}

// From the first arrival to the last end.
double Duration(std::span<const RequestOutcome> outcomes) {
  double first = kNever;
  double last = 0.0;
  for (const RequestOutcome& outcome : outcomes) {
    if (outcome.arrival_s != kNever) first = std::min(first, outcome.arrival_s);
    if (outcome.finish_s != kNever) last = std::max(last, outcome.finish_s);
  }
  return first == kNever ? 0.0 : std::max(0.0, last - first);
}

Spread TokenGaps(std::span<const RequestOutcome> outcomes, TimeHistogram& histogram) {
  size_t count = 0;
  for (const RequestOutcome& outcome : outcomes) count += outcome.token_gaps.size();
  std::vector<float> gaps;
  gaps.reserve(count);
  for (const RequestOutcome& outcome : outcomes) {
    if (outcome.ending != Ending::kComplete) continue;
    gaps.insert(gaps.end(), outcome.token_gaps.begin(), outcome.token_gaps.end());
  }
  for (const float gap : gaps) histogram.Add(gap);
  return SpreadOf(gaps);
}

void SetRates(LoadSummary& summary) {
  if (summary.duration_s > 0.0) {
    const auto rate = [&](int64_t count) { return static_cast<double>(count) / summary.duration_s; };
    summary.requests_per_s = rate(summary.ended(Ending::kComplete));
    summary.prompt_tokens_per_s = rate(summary.prompt_tokens);
    summary.output_tokens_per_s = rate(summary.output_tokens);
    summary.goodput_per_s = rate(summary.met_objectives);
  }
  if (summary.prompt_tokens > 0) {
    summary.cached_share = static_cast<double>(summary.cached_tokens) / static_cast<double>(summary.prompt_tokens);
  }
}

}  // namespace

namespace {

// Milliseconds, with or without a unit behind them.
std::optional<double> ReadMilliseconds(std::string_view text) {
  const double scale = text.ends_with('s') && !text.ends_with("ms") ? 1e3 : 1.0;
  if (text.ends_with('s')) text.remove_suffix(text.ends_with("ms") ? 2 : 1);
  const std::optional<double> number = ReadNumber(text);
  return number ? std::optional<double>(*number * scale) : std::nullopt;
}

}  // namespace

Result<Objectives> ParseObjectives(std::string_view text) {
  Objectives objectives;
  for (const std::string_view part : SplitText(text, ',')) {
    const std::vector<std::string_view> fields = SplitText(part, ':');
    const std::optional<double> ms = fields.size() == 2 ? ReadMilliseconds(fields[1]) : std::nullopt;
    if (!ms || *ms <= 0.0 || (fields[0] != "ttft" && fields[0] != "tpot")) {
      return InvalidArgument("objectives '{}': they are ttft:MS, tpot:MS or both between commas, above 0",
                             text.substr(0, 100));
    }
    (fields[0] == "ttft" ? objectives.first_token_s : objectives.token_interval_s) = *ms * 1e-3;
  }
  return objectives;
}

Ending EndingOf(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
      return Ending::kTooLong;
    case StatusCode::kResourceExhausted:
      return Ending::kQueueFull;
    case StatusCode::kDeadlineExceeded:
      return Ending::kLate;
    default:
      return Ending::kFailed;
  }
}

std::string_view EndingName(Ending ending) { return kEndingNames[static_cast<size_t>(ending)]; }

LoadSummary Summarize(std::span<const RequestOutcome> outcomes, size_t num_tenants, const Objectives& objectives) {
  LoadSummary summary{.requests = static_cast<int64_t>(outcomes.size()), .objectives = objectives};
  summary.tenants.resize(num_tenants);
  Times all;
  std::vector<Times> by_tenant(num_tenants);
  int64_t chunks = 0;
  for (const RequestOutcome& outcome : outcomes) {
    ADIT_CHECK(outcome.tenant >= 0 && static_cast<size_t>(outcome.tenant) < num_tenants);
    TenantSummary& tenant = summary.tenants[static_cast<size_t>(outcome.tenant)];
    ++summary.endings[static_cast<size_t>(outcome.ending)];
    summary.preemptions += outcome.preemptions;
    ++tenant.requests;
    if (outcome.ending != Ending::kComplete) continue;
    ++tenant.completed;
    tenant.output_tokens += outcome.output_tokens;
    summary.prompt_tokens += outcome.prompt_tokens;
    summary.cached_tokens += outcome.cached_tokens;
    summary.output_tokens += outcome.output_tokens;
    summary.met_objectives += Meets(outcome, objectives) ? 1 : 0;
    chunks += outcome.chunks;
    AddTimes(outcome, all);
    if (num_tenants > 1) AddTimes(outcome, by_tenant[static_cast<size_t>(outcome.tenant)]);
  }
  for (const float seconds : all.ttft) summary.ttft_histogram.Add(seconds);
  summary.ttft_s = SpreadOf(all.ttft);
  summary.tpot_s = SpreadOf(all.tpot);
  summary.e2e_s = SpreadOf(all.e2e);
  summary.queue_s = SpreadOf(all.queue);
  summary.itl_s = TokenGaps(outcomes, summary.itl_histogram);
  for (size_t i = 0; i < num_tenants; ++i) {
    summary.tenants[i].ttft_s = num_tenants > 1 ? SpreadOf(by_tenant[i].ttft) : summary.ttft_s;
    summary.tenants[i].e2e_s = num_tenants > 1 ? SpreadOf(by_tenant[i].e2e) : summary.e2e_s;
  }
  summary.duration_s = Duration(outcomes);
  const int64_t completed = summary.ended(Ending::kComplete);
  if (completed > 0) summary.mean_chunks = static_cast<double>(chunks) / static_cast<double>(completed);
  SetRates(summary);
  return summary;
}

}  // namespace adit::sched
