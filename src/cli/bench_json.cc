// JsonReport.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/bench_report.h"

namespace adit::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// JSON has no infinities: they become null.
OrderedJson Number(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

void AddNumbers(const sched::LoadSummary& summary, OrderedJson& json) {
  for (const ReportedNumber& number : NumbersOf(summary)) {
    const std::string key(number.key);
    if (number.decimals == 0) {
      json[key] = static_cast<int64_t>(number.value);
    } else {
      json[key] = Number(number.value);
    }
  }
}

void AddSpreads(const sched::LoadSummary& summary, OrderedJson& json) {
  for (const ReportedSpread& reported : SpreadsOf(summary)) {
    const auto add = [&](std::string_view statistic, double value) {
      json[fmt::format("{}_{}_{}", reported.key, statistic, reported.unit)] = Number(value * reported.scale);
    };
    add("mean", reported.spread.mean);
    add("p50", reported.spread.p50);
    add("p90", reported.spread.p90);
    add("p99", reported.spread.p99);
    add("max", reported.spread.max);
  }
  json["mean_e2e_s"] = Number(summary.e2e_s.mean);
}

OrderedJson SettingsJson(const BenchReport& report) {
  OrderedJson json = OrderedJson::object();
  for (const BenchSetting& setting : report.settings) {
    std::visit([&](const auto& value) { json[setting.key] = value; }, setting.value);
    if (const double* number = std::get_if<double>(&setting.value)) json[setting.key] = Number(*number);
  }
  return json;
}

OrderedJson TenantsJson(const BenchReport& report) {
  OrderedJson json = OrderedJson::array();
  for (size_t i = 0; i < report.tenants.size(); ++i) {
    const sched::TenantSummary& tenant = report.run.summary.tenants[i];
    json.push_back({{"name", report.tenants[i]},
                    {"requests", tenant.requests},
                    {"completed", tenant.completed},
                    {"output_tokens", tenant.output_tokens},
                    {"ttft_mean_ms", tenant.ttft_s.mean * 1e3},
                    {"ttft_p99_ms", tenant.ttft_s.p99 * 1e3},
                    {"e2e_mean_s", tenant.e2e_s.mean}});
  }
  return json;
}

// One array for each column: smaller than one object for each point, and ready for a plot.
OrderedJson TimelineJson(const BenchReport& report) {
  const auto column = [&](auto member) {
    OrderedJson values = OrderedJson::array();
    for (const sched::TimelinePoint& point : report.run.timeline) values.push_back(point.*member);
    return values;
  };
  using Point = sched::TimelinePoint;
  OrderedJson json = {{"begin_s", column(&Point::begin_s)},
                      {"end_s", column(&Point::end_s)},
                      {"running", column(&Point::running)},
                      {"waiting", column(&Point::waiting)}};
  if (!report.run.summary.from_outside) {
    json["pages_used_share"] = column(&Point::used_share);
    json["pages_cached_share"] = column(&Point::cached_share);
    json["prompt_tokens_per_s"] = column(&Point::prompt_tokens_per_s);
  }
  json["output_tokens_per_s"] = column(&Point::output_tokens_per_s);
  return json;
}

OrderedJson ErrorsJson(const std::vector<BenchError>& errors) {
  OrderedJson json = OrderedJson::object();
  for (const BenchError& error : errors) json[error.name] = error.count;
  return json;
}

OrderedJson ComparisonsJson(const BenchReport& report) {
  OrderedJson json = OrderedJson::array();
  for (const BenchComparison& comparison : report.comparisons) {
    OrderedJson rows = OrderedJson::array();
    for (const ComparisonRow& row : comparison.rows) {
      rows.push_back({{"measure", row.key},
                      {"this", Number(row.ours)},
                      {"that", Number(row.theirs)},
                      {"times_better", Number(row.times_better)},
                      {"least", Number(row.least)},
                      {"most", Number(row.most)}});
    }
    json.push_back({{"with", comparison.with},
                    {"rounds", comparison.rounds},
                    {"errors", ErrorsJson(comparison.errors)},
                    {"measures", std::move(rows)}});
  }
  return json;
}

OrderedJson LedgerJson(const BenchReport& report) {
  OrderedJson json = OrderedJson::array();
  for (const LedgerRow& row : report.ledger) {
    for (const LedgerMetric& metric : row.metrics) {
      json.push_back({{"technique", row.technique},
                      {"metric", metric.key},
                      {"primary", &metric == &row.metrics.front()},
                      {"with", Number(metric.with)},
                      {"without", Number(metric.without)},
                      {"worth", Number(metric.worth())}});
    }
  }
  return json;
}

}  // namespace

std::string JsonReport(const BenchReport& report) {
  OrderedJson json = {{"title", report.title}};
  AddNumbers(report.run.summary, json);
  AddSpreads(report.run.summary, json);
  if (report.run.summary.from_outside) json["errors"] = ErrorsJson(report.run.errors);
  json["settings"] = SettingsJson(report);
  json["tenants"] = TenantsJson(report);
  json["timeline"] = TimelineJson(report);
  if (!report.comparisons.empty()) json["comparisons"] = ComparisonsJson(report);
  if (!report.ledger.empty()) {
    json["repeats"] = report.repeats;
    json["ablation"] = LedgerJson(report);
  }
  return json.dump(2, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace adit::cli
