#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "server/metrics_format_internal.h"

namespace adit::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Name {
  std::string_view own;
  std::string_view vllm;
};
// vLLM's of its first engine.
constexpr Name kNames[] = {{"adit_num_requests_running", "vllm:num_requests_running"},
                           {"adit_num_requests_waiting", "vllm:num_requests_waiting"},
                           {"adit_kv_cache_usage_ratio", "vllm:kv_cache_usage_perc"},
                           {"adit_kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
                           {"adit_cache_config_info", "vllm:cache_config_info"},
                           {"adit_prompt_tokens_total", "vllm:prompt_tokens_total"},
                           {"adit_generation_tokens_total", "vllm:generation_tokens_total"},
                           {"adit_prefix_cache_queries_total", "vllm:prefix_cache_queries_total"},
                           {"adit_prefix_cache_hits_total", "vllm:prefix_cache_hits_total"},
                           {"adit_iteration_tokens", "vllm:iteration_tokens_total"},
                           {"adit_num_preemptions_total", "vllm:num_preemptions_total"},
                           {"adit_request_success_total", "vllm:request_success_total"},
                           {"adit_time_to_first_token_seconds", "vllm:time_to_first_token_seconds"},
                           {"adit_inter_token_latency_seconds", "vllm:inter_token_latency_seconds"},
                           {"adit_inter_token_latency_seconds", "vllm:time_per_output_token_seconds"},
                           {"adit_request_time_per_output_token_seconds", "vllm:request_time_per_output_token_seconds"},
                           {"adit_e2e_request_latency_seconds", "vllm:e2e_request_latency_seconds"},
                           {"adit_request_queue_time_seconds", "vllm:request_queue_time_seconds"},
                           {"adit_request_inference_time_seconds", "vllm:request_inference_time_seconds"},
                           {"adit_request_prefill_time_seconds", "vllm:request_prefill_time_seconds"},
                           {"adit_request_decode_time_seconds", "vllm:request_decode_time_seconds"},
                           {"adit_request_prompt_tokens", "vllm:request_prompt_tokens"},
                           {"adit_request_generation_tokens", "vllm:request_generation_tokens"},
                           {"adit_request_max_num_generation_tokens", "vllm:request_max_num_generation_tokens"},
                           {"adit_kv_block_lifetime_seconds", "vllm:kv_block_lifetime_seconds"},
                           {"adit_kv_block_idle_before_evict_seconds", "vllm:kv_block_idle_before_evict_seconds"},
                           {"adit_kv_block_reuse_gap_seconds", "vllm:kv_block_reuse_gap_seconds"},
                           {"adit_request_params_n", "vllm:request_params_n"},
                           {"adit_request_params_max_tokens", "vllm:request_params_max_tokens"}};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // A whole number is written as one of real numbers all the same: buckets are told by their text.
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string Labels(const ClientMetric& metric, std::string_view more_name = {}, const std::string& more_value = {}) {
  std::string out;
  for (const ClientMetric::Label& label : metric.label) {
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", label.name, Escaped(label.value));
  }
  if (!more_name.empty()) out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", more_name, more_value);
  return out.empty() ? out : fmt::format("{{{}}}", out);
}

void WriteHistogram(const std::string& name, const ClientMetric& metric, std::string& out) {
  const auto& histogram = metric.histogram;
  bool has_last = false;
  for (const auto& bucket : histogram.bucket) {
    has_last = has_last || std::isinf(bucket.upper_bound);
    out += fmt::format("{}_bucket{} {}\n", name, Labels(metric, "le", Number(bucket.upper_bound)),
                       bucket.cumulative_count);
  }
  if (!has_last) out += fmt::format("{}_bucket{} {}\n", name, Labels(metric, "le", "+Inf"), histogram.sample_count);
  out += fmt::format("{}_count{} {}\n", name, Labels(metric), histogram.sample_count);
  out += fmt::format("{}_sum{} {}\n", name, Labels(metric), Number(histogram.sample_sum));
}

}  // namespace

void AddVllmNames(const std::string& model, std::vector<MetricFamily>& families) {
  std::vector<MetricFamily> more;
  for (const Name& name : kNames) {
    for (const MetricFamily& family : families) {
      if (family.name != name.own) continue;
      MetricFamily copy = family;
      copy.name = name.vllm;
      for (ClientMetric& metric : copy.metric) {
        std::erase_if(metric.label, [](const ClientMetric::Label& label) { return label.name == "model"; });
        metric.label.push_back({"model_name", model});
        metric.label.push_back({"engine", "0"});
      }
      more.push_back(std::move(copy));
    }
  }
  families.insert(families.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string OpenMetricsText(const std::vector<MetricFamily>& families) {
  constexpr std::string_view kTotal = "_total";
  std::string out;
  for (const MetricFamily& family : families) {
    const bool is_counter = family.type == MetricType::Counter;
    const bool is_histogram = family.type == MetricType::Histogram;
    std::string name = family.name;
    // The family's name is the counter's without its end.
    if (is_counter && name.ends_with(kTotal)) name.resize(name.size() - kTotal.size());
    out += fmt::format("# TYPE {} {}\n", name, is_counter ? "counter" : is_histogram ? "histogram" : "gauge");
    out += fmt::format("# HELP {} {}\n", name, Escaped(family.help));
    for (const ClientMetric& metric : family.metric) {
      if (is_histogram) {
        WriteHistogram(name, metric, out);
      } else {
        const double value = is_counter ? metric.counter.value : metric.gauge.value;
        out += fmt::format("{}{}{} {}\n", name, is_counter ? kTotal : "", Labels(metric), Number(value));
      }
    }
  }
  return out + "# EOF\n";
}

}  // namespace adit::server
