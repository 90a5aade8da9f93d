#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/metrics_format_internal.h"

namespace adit::server {
namespace {

using prometheus::ClientMetric;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Buckets = Histogram::BucketBoundaries;

const Buckets& FirstTokenBuckets() {
  static const Buckets kBuckets = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                                   1.0,   2.5,   5.0,  7.5,  10.0, 20.0, 40.0, 80,  160,  640, 2560};
  return kBuckets;
}

const Buckets& IntervalBuckets() {
  static const Buckets kBuckets = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3,
                                   0.4,   0.5,    0.75,  1.0,  2.5,   5.0,  7.5,   10,  20,   40,  80};
  return kBuckets;
}

const Buckets& LatencyBuckets() {
  static const Buckets kBuckets = {0.3, 0.5, 0.8,  1.0,  1.5,  2.0,  2.5,   5.0,   10.0,  15.0,  20.0,
                                   30,  40,  50.0, 60.0, 120., 240., 480.0, 960.0, 1920., 7680.0};
  return kBuckets;
}

const Buckets& HttpBuckets() {
  static const Buckets kBuckets = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800};
  return kBuckets;
}

const Buckets& TokenBuckets() {
  static const Buckets kBuckets = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};
  return kBuckets;
}

const Buckets& CountBuckets() {
  static const Buckets kBuckets = {1, 2, 5, 10, 20, 50, 100};
  return kBuckets;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Histograms of one model.
class ModelHistograms : public ModelMetrics {
 public:
  ModelHistograms(prometheus::Registry& registry, const std::string& model, Family<Counter>& success)
      : registry_(registry), model_(model), success_(success) {}

  void CountParams(int64_t num_answers, int64_t max_tokens) override {
    params_n_.Observe(static_cast<double>(num_answers));
    params_max_tokens_.Observe(static_cast<double>(max_tokens));
  }

  void CountInterval(double seconds) override { interval_.Observe(seconds); }

  void CountAnswer(const AnswerStats& stats, std::string_view finish_reason) override {
    const std::string_view reason = stats.reason == FinishReason::kDeadline ? "deadline"
                                    : stats.reason == FinishReason::kCancelled && finish_reason == "length"
                                        ? "abort"
                                        : finish_reason;
    success_.Add({{"finished_reason", std::string(reason)}}).Increment();
    prompt_tokens_.Observe(static_cast<double>(stats.prompt_tokens));
    generation_tokens_.Observe(static_cast<double>(stats.output_tokens));
    queue_.Observe(stats.queue_seconds);
    inference_.Observe(stats.total_seconds - stats.queue_seconds);
    if (stats.output_tokens == 0) return;
    first_token_.Observe(stats.first_token_seconds);
    prefill_.Observe(stats.first_token_seconds - stats.queue_seconds);
    decode_.Observe(stats.total_seconds - stats.first_token_seconds);
    if (stats.output_tokens < 2) return;
    per_token_.Observe((stats.total_seconds - stats.first_token_seconds) /
                       static_cast<double>(stats.output_tokens - 1));
  }

  void CountLatency(double seconds) { latency_.Observe(seconds); }

 private:
  Histogram& Add(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add({{"model", model_}}, buckets);
  }

  prometheus::Registry& registry_;
  const std::string model_;
  Family<Counter>& success_;
  Histogram& first_token_ =
      Add("adit_time_to_first_token_seconds", "From submission to the first token", FirstTokenBuckets());
  Histogram& interval_ = Add("adit_inter_token_latency_seconds", "Between two tokens of an answer", IntervalBuckets());
  Histogram& per_token_ =
      Add("adit_request_time_per_output_token_seconds", "Mean time between the tokens of an answer", IntervalBuckets());
  Histogram& latency_ =
      Add("adit_e2e_request_latency_seconds", "From header to last byte, of answers", LatencyBuckets());
  Histogram& queue_ = Add("adit_request_queue_time_seconds", "From submission to the first step", LatencyBuckets());
  Histogram& inference_ =
      Add("adit_request_inference_time_seconds", "From the first step to the end", LatencyBuckets());
  Histogram& prefill_ =
      Add("adit_request_prefill_time_seconds", "From the first step to the first token", LatencyBuckets());
  Histogram& decode_ = Add("adit_request_decode_time_seconds", "From the first token to the end", LatencyBuckets());
  Histogram& prompt_tokens_ = Add("adit_request_prompt_tokens", "Tokens of prompts", TokenBuckets());
  Histogram& generation_tokens_ = Add("adit_request_generation_tokens", "Tokens of answers", TokenBuckets());
  Histogram& params_n_ = Add("adit_request_params_n", "Answers asked for", CountBuckets());
  Histogram& params_max_tokens_ =
      Add("adit_request_params_max_tokens", "Most tokens of an answer asked for", TokenBuckets());
};
// Tenants may be named by clients; of so many at most there are series.
constexpr size_t kMaxTenants = 64;

}  // namespace

class Metrics::Impl {
 public:
  Impl(std::string_view model, std::string_view version, bool with_vllm)
      : model_(model), version_(version), with_vllm_(with_vllm) {
    Of(model_);
  }

  void Count(const RequestRecord& record, bool client_gone, double seconds) {
    const std::string status = std::to_string(client_gone ? 499 : record.status);
    http_requests_
        .Add(
            {{"method", MethodOf(record)}, {"path", record.route.empty() ? "other" : record.route}, {"status", status}})
        .Increment();
    http_seconds_.Observe(seconds);
    if (!record.error_code.empty()) rejected_.Add({{"code", record.error_code}}).Increment();
    for (const guard::Verdict& verdict : record.verdicts) {
      verdicts_
          .Add({{"rule", verdict.rule->name},
                {"action", std::string(guard::ActionName(verdict.rule->action))},
                {"side", std::string(guard::SideName(verdict.side))}})
          .Increment(static_cast<double>(verdict.count));
    }
    if (!record.generates) return;
    CountTenant(record);
    if (client_gone) {
      const bool decodes = record.output_tokens.load(std::memory_order_relaxed) > 0;
      cancelled_.Add({{"phase", decodes ? "decode" : "prefill"}}).Increment();
    } else if (record.status == 200) {
      max_generation_tokens_.Observe(static_cast<double>(record.longest_answer));
      Of(record.model).CountLatency(seconds);
    }
  }

  void CountValidation(double seconds) { validation_.Observe(seconds); }

  ModelHistograms& Of(const std::string& model) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<ModelHistograms>& found = models_[model];
    if (found == nullptr) found = std::make_unique<ModelHistograms>(registry_, model, success_);
    return *found;
  }

  std::string Text(const MetricsNow& now, MetricsFormat format) const {
    std::vector<MetricFamily> families = registry_.Collect();
    for (const ModelFigures& model : now.models) {
      AddState(model, families);
      if (model.engine) AddEngine(model, families);
      AddMemory(model, now.peak_bytes_per_s, families);
      if (model.embeddings) AddEmbeddings(model.model, *model.embeddings, families);
    }
    AddHost(now, families);
    Gauge("adit_http_connections", "Connections open now", static_cast<double>(now.http.connections), families);
    Count("adit_http_connections_accepted_total", "Connections taken", now.http.accepted, families);
    Gauge("adit_ready", "1 when requests are answered", now.ready ? 1 : 0, families);
    Gauge("process_resident_memory_bytes", "Memory that the process occupies", static_cast<double>(now.resident_bytes),
          families);
    AddInfo(model_, "adit_build_info", "The version", {{"version", version_}}, families);
    if (with_vllm_) AddVllmNames(model_, families);
    if (format == MetricsFormat::kOpenMetrics) return OpenMetricsText(families);
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families);
    return out.str();
  }

 private:
  // Methods are the client's to choose; labels are not.
  static std::string MethodOf(const RequestRecord& record) {
    for (const char* known : {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"}) {
      if (record.method == known) return known;
    }
    return "other";
  }

  prometheus::Labels labels() const { return {{"model", model_}}; }

  Histogram& AddHistogram(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add(labels(), buckets);
  }
  Family<Counter>& AddCounters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
  }

  // Adds a figure of a model to its family, of which there may be one by now.
  static void Add(const std::string& model, const char* name, const char* help, MetricType type, ClientMetric metric,
                  std::vector<MetricFamily>& out) {
    metric.label.push_back({"model", model});
    for (MetricFamily& family : out) {
      if (family.name == name) {
        family.metric.push_back(std::move(metric));
        return;
      }
    }
    MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    family.metric = {std::move(metric)};
    out.push_back(std::move(family));
  }
  static void AddGauge(const std::string& model, const char* name, const char* help, double value,
                       std::vector<MetricFamily>& out) {
    ClientMetric metric;
    metric.gauge.value = value;
    Add(model, name, help, MetricType::Gauge, std::move(metric), out);
  }
  template <typename Number>
  static void AddCount(const std::string& model, const char* name, const char* help, Number value,
                       std::vector<MetricFamily>& out) {
    ClientMetric metric;
    metric.counter.value = static_cast<double>(value);
    Add(model, name, help, MetricType::Counter, std::move(metric), out);
  }
  // Of the process.
  void Gauge(const char* name, const char* help, double value, std::vector<MetricFamily>& out) const {
    AddGauge(model_, name, help, value, out);
  }
  void Count(const char* name, const char* help, int64_t value, std::vector<MetricFamily>& out) const {
    AddCount(model_, name, help, value, out);
  }
  static void AddInfo(const std::string& model, const char* name, const char* help,
                      std::vector<ClientMetric::Label> labels, std::vector<MetricFamily>& out) {
    ClientMetric metric;
    metric.gauge.value = 1;
    metric.label = std::move(labels);
    Add(model, name, help, MetricType::Gauge, std::move(metric), out);
  }

  static void AddState(const ModelFigures& model, std::vector<MetricFamily>& out) {
    for (const char* state : {"unloaded", "loading", "loaded", "failed"}) {
      ClientMetric metric;
      metric.gauge.value = model.state == state ? 1 : 0;
      metric.label.push_back({"state", state});
      Add(model.model, "adit_model_state", "1 for the state that a model is in", MetricType::Gauge, std::move(metric),
          out);
    }
  }

  static ClientMetric WithLabel(const char* name, const std::string& value) {
    ClientMetric metric;
    metric.label.push_back({name, value});
    return metric;
  }

  void CountTenant(const RequestRecord& record) {
    std::string tenant = record.tenant;
    {
      const std::lock_guard lock(tenants_mutex_);
      if (!tenants_.contains(tenant) && tenants_.size() >= kMaxTenants) tenant = "other";
      tenants_.insert(tenant);
    }
    const int64_t tokens = record.prompt_tokens + record.output_tokens.load(std::memory_order_relaxed);
    tenant_tokens_.Add({{"tenant", tenant}}).Increment(static_cast<double>(tokens));
  }

  // Of the process and the machine.
  void AddHost(const MetricsNow& now, std::vector<MetricFamily>& out) const {
    const HostFigures& host = now.host;
    AddCount(model_, "process_cpu_seconds_total", "Processor time used", host.cpu_seconds, out);
    Gauge("process_start_time_seconds", "When the process began, since the epoch", host.start_time_s, out);
    Gauge("process_virtual_memory_bytes", "Addresses taken", static_cast<double>(host.virtual_bytes), out);
    Gauge("process_open_fds", "Open files and sockets", static_cast<double>(host.open_files), out);
    Gauge("process_max_fds", "Most that may be open", static_cast<double>(host.max_files), out);
    Gauge("process_threads", "Threads", static_cast<double>(host.num_threads), out);
    Gauge("adit_cpus", "Processors that the process may run on", host.num_cpus, out);
    if (host.cpu_hertz > 0) Gauge("adit_cpu_frequency_hertz", "Clock of the processors, mean", host.cpu_hertz, out);
    if (now.energies.empty()) return;
    MetricFamily energy;
    energy.name = "adit_energy_joules_total";
    energy.help = "Energy that the machine has used since the server began, all its programs together";
    energy.type = MetricType::Counter;
    for (const Energy& part : now.energies) {
      energy.metric.push_back(WithLabel("domain", part.domain));
      energy.metric.back().counter.value = part.joules;
    }
    out.push_back(std::move(energy));
  }

  static void AddMemory(const ModelFigures& now, double peak_bytes_per_s, std::vector<MetricFamily>& out) {
    if (now.load_seconds > 0)
      AddGauge(now.model, "adit_startup_seconds", "That loading it took", now.load_seconds, out);
    for (const auto& [pool, bytes] : now.pools) {
      ClientMetric memory = WithLabel("pool", pool);
      memory.gauge.value = static_cast<double>(bytes);
      Add(now.model, "adit_memory_bytes", "Memory by what it is for", MetricType::Gauge, std::move(memory), out);
    }
    if (peak_bytes_per_s <= 0 || !now.engine) return;
    const double read = static_cast<double>(now.weight_bytes) * static_cast<double>(now.engine->scheduler.steps);
    const double rate = now.engine->model_seconds > 0 ? read / now.engine->model_seconds : 0.0;
    for (const auto& [kind, value] : {std::pair("measured_peak", peak_bytes_per_s), std::pair("achieved", rate)}) {
      ClientMetric bandwidth = WithLabel("kind", kind);
      bandwidth.gauge.value = value;
      Add(now.model, "adit_memory_bandwidth_bytes_per_second",
          "At which memory was read when the server began, and at which steps have read weights since",
          MetricType::Gauge, std::move(bandwidth), out);
    }
    AddCount(now.model, "adit_weight_read_bytes_total", "Bytes of weights that steps have read", read, out);
    ClientMetric ratio = WithLabel("phase", "step");
    ratio.gauge.value = rate / peak_bytes_per_s;
    Add(now.model, "adit_roofline_ratio", "Share of the measured memory speed that steps have reached",
        MetricType::Gauge, std::move(ratio), out);
  }

  static void AddCache(const ModelFigures& now, std::vector<MetricFamily>& out) {
    const engine::EngineStats& stats = *now.engine;
    ClientMetric kept = WithLabel("tier", "ram");
    kept.gauge.value = static_cast<double>(stats.pages.num_cached * now.kv_page_bytes);
    Add(now.model, "adit_cache_bytes", "Bytes of cached prefixes", MetricType::Gauge, std::move(kept), out);
    for (int i = 0; i < kv::kNumMissReasons; ++i) {
      ClientMetric misses = WithLabel("reason", kv::MissReasonName(static_cast<kv::MissReason>(i)));
      misses.counter.value = static_cast<double>(stats.prefix_cache.misses[static_cast<size_t>(i)]);
      Add(now.model, "adit_cache_miss_total", "Prompts by why no more of them was in the cache", MetricType::Counter,
          std::move(misses), out);
    }
    AddCount(now.model, "adit_grammars_compiled_total", "Grammars compiled", now.grammars_compiled, out);
    AddCount(now.model, "adit_grammar_cache_hits_total", "Grammars that had been compiled before",
             now.grammar_cache_hits, out);
    AddCount(now.model, "adit_grammar_compile_seconds_total", "Time that compiling them took",
             now.grammar_compile_seconds, out);
    AddGauge(now.model, "adit_tenant_lag_tokens", "Greatest difference in service of tenants that wait",
             stats.fairness_gap, out);
  }

  static void AddWaiting(const std::string& model, int64_t num_waiting, std::vector<MetricFamily>& out) {
    ClientMetric waiting;
    waiting.gauge.value = static_cast<double>(num_waiting);
    waiting.label.push_back({"reason", "capacity"});
    Add(model, "adit_num_requests_waiting", "Sequences that wait", MetricType::Gauge, std::move(waiting), out);
  }

  static void AddEmbeddings(const std::string& model, const engine::EmbeddingStats& stats,
                            std::vector<MetricFamily>& out) {
    AddGauge(model, "adit_num_requests_running", "Requests whose texts are embedded",
             static_cast<double>(stats.num_requests), out);
    AddWaiting(model, stats.num_waiting, out);
    AddCount(model, "adit_prompt_tokens_total", "Tokens of texts that were embedded", stats.tokens, out);
    AddCount(model, "adit_engine_steps_total", "Passes", stats.passes, out);
  }

  // What steps were made of, and where their time went.
  static void AddSteps(const ModelFigures& model, std::vector<MetricFamily>& out) {
    const engine::EngineStats& stats = *model.engine;
    const sched::SchedulerCounters& steps = stats.scheduler;
    ClientMetric tokens;
    tokens.histogram.sample_count = static_cast<uint64_t>(steps.steps);
    tokens.histogram.sample_sum = static_cast<double>(steps.step_tokens);
    uint64_t up_to = 0;
    for (size_t i = 0; i < steps.steps_by_tokens.size(); ++i) {
      up_to += static_cast<uint64_t>(steps.steps_by_tokens[i]);
      const bool bounded = i < sched::kStepTokenBounds.size();
      tokens.histogram.bucket.push_back(
          {.cumulative_count = up_to,
           .upper_bound = bounded ? static_cast<double>(sched::kStepTokenBounds[i]) : kInfinity});
    }
    Add(model.model, "adit_iteration_tokens", "Tokens of a step, of prompts and answers", MetricType::Histogram,
        std::move(tokens), out);
    AddGauge(model.model, "adit_batch_size", "Sequences of the last step",
             static_cast<double>(steps.last_step_sequences), out);
    AddGauge(model.model, "adit_busy_sequences_per_step", "Sequences of a step, mean",
             static_cast<double>(steps.step_sequences) / static_cast<double>(std::max<int64_t>(1, steps.steps)), out);
    AddGauge(model.model, "adit_n_tokens_max", "Tokens of the longest sequence so far",
             static_cast<double>(steps.longest_sequence), out);
    AddCount(model.model, "adit_grammar_mask_seconds_total",
             "Processor time in which grammars said which tokens may come, a part of the phase sample",
             stats.mask_seconds, out);
    const std::pair<const char*, double> phases[] = {
        {"plan", stats.plan_seconds}, {"model", stats.model_seconds}, {"sample", stats.sample_seconds}};
    for (const auto& [phase, seconds] : phases) {
      ClientMetric metric;
      metric.counter.value = seconds;
      metric.label.push_back({"phase", phase});
      Add(model.model, "adit_step_seconds_total", "Time spent in steps, by what was done", MetricType::Counter,
          std::move(metric), out);
    }
  }

  static void AddEngine(const ModelFigures& model, std::vector<MetricFamily>& out) {
    const engine::EngineStats& stats = *model.engine;
    const auto gauge = [&](const char* name, const char* help, double value) {
      AddGauge(model.model, name, help, value, out);
    };
    const auto count = [&](const char* name, const char* help, int64_t value) {
      AddCount(model.model, name, help, value, out);
    };
    gauge("adit_num_requests_running", "Sequences that run", static_cast<double>(stats.num_running));
    AddWaiting(model.model, stats.num_waiting, out);
    const double pages = static_cast<double>(std::max<int64_t>(1, stats.pages.num_pages));
    const double held = static_cast<double>(stats.pages.num_pages - stats.pages.num_free - stats.pages.num_cached);
    gauge("adit_kv_cache_usage_ratio", "Share of the pages that running sequences hold", held / pages);
    gauge("adit_kv_cache_usage_perc", "The same, under the name of vLLM", held / pages);
    gauge("adit_kv_pages_free", "Pages that nobody holds", static_cast<double>(stats.pages.num_free));
    gauge("adit_kv_pages_cached", "Pages that the prefix cache alone holds",
          static_cast<double>(stats.pages.num_cached));
    gauge("adit_kv_pages_total", "Pages there are", static_cast<double>(stats.pages.num_pages));
    AddInfo(model.model, "adit_cache_config_info", "The cache's shape",
            {{"block_size", std::to_string(model.block_size)}, {"kv_tokens", std::to_string(model.kv_tokens)}}, out);
    count("adit_prompt_tokens_total", "Tokens of prompts that were computed", stats.scheduler.prompt_tokens);
    count("adit_generation_tokens_total", "Tokens generated", stats.scheduler.output_tokens);
    count("adit_prefix_cache_queries_total", "Tokens of prompts looked for in the prefix cache",
          stats.prefix_cache.query_tokens);
    count("adit_prefix_cache_hits_total", "Tokens of prompts found there",
          stats.prefix_cache.hit_tokens + stats.prefix_cache.partial_tokens);
    count("adit_num_preemptions_total", "Sequences that gave way", stats.scheduler.preemptions);
    AddCache(model, out);
    count("adit_engine_steps_total", "Steps", stats.scheduler.steps);
    count("adit_engine_cancelled_total", "Requests cancelled", stats.cancelled);
    count("adit_deadline_missed_total", "Requests whose time ran out", stats.missed_deadlines);
    gauge("adit_estimated_queue_seconds", "Until a request that came now would begin", stats.queue_seconds);
    AddSteps(model, out);
    // The engine's clock is the steady one; dashboards have the time of day.
    const double age_s = stats.last_step_s > 0 ? SteadySeconds() - stats.last_step_s : 0.0;
    gauge("adit_engine_last_step_age_seconds", "Since the last step", age_s);
    gauge("adit_engine_last_step_timestamp_seconds", "When the last step ended, since the epoch; 0: none has",
          stats.last_step_s > 0 ? UnixSeconds() - age_s : 0.0);
  }

  const std::string model_;
  const std::string version_;
  const bool with_vllm_;
  std::mutex tenants_mutex_;
  std::set<std::string> tenants_;  // guarded by tenants_mutex_
  prometheus::Registry registry_;
  Family<Counter>& http_requests_ = AddCounters("http_requests_total", "Requests answered");
  Family<Counter>& rejected_ = AddCounters("adit_requests_rejected_total", "Requests answered with an error, by code");
  Family<Counter>& cancelled_ = AddCounters("adit_requests_cancelled_total", "Requests whose client went");
  Family<Counter>& success_ = AddCounters("adit_request_success_total", "Answers that ended, by why");
  Family<Counter>& verdicts_ = AddCounters("adit_guard_verdicts_total", "What rules of the guard have found");
  Family<Counter>& tenant_tokens_ =
      AddCounters("adit_tenant_service_tokens_total", "Tokens of prompts and answers, by tenant");
  Histogram& validation_ = AddHistogram("adit_request_validation_seconds",
                                        "From header to submission: reading, checking, making tokens", HttpBuckets());
  Histogram& max_generation_tokens_ =
      AddHistogram("adit_request_max_num_generation_tokens", "Tokens of the longest answer", TokenBuckets());
  Histogram& http_seconds_ = AddHistogram("http_request_duration_seconds", "From header to last byte", HttpBuckets());

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<ModelHistograms>> models_;  // guarded by mutex_; each stays where it is
};

MetricsFormat FormatOfAccept(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos ? MetricsFormat::kPrometheus
                                                                               : MetricsFormat::kOpenMetrics;
}

const char* ContentTypeOf(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                               : "text/plain; version=0.0.4; charset=utf-8";
}

Metrics::Metrics(std::string_view model, std::string_view version, bool with_vllm)
    : impl_(std::make_unique<Impl>(model, version, with_vllm)) {}
Metrics::~Metrics() = default;

void Metrics::Count(const RequestRecord& record, bool client_gone, double seconds) {
  impl_->Count(record, client_gone, seconds);
}
void Metrics::CountValidation(double seconds) { impl_->CountValidation(seconds); }
ModelMetrics& Metrics::Of(const std::string& model) { return impl_->Of(model); }
std::string Metrics::Text(const MetricsNow& now, MetricsFormat format) const { return impl_->Text(now, format); }

}  // namespace adit::server
