#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "server/metric_families_internal.h"
#include "server/metrics_format_internal.h"

namespace adit::server {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::MetricFamily;
using Buckets = prometheus::Histogram::BucketBoundaries;

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

// Work of the processor on one request's text.
const Buckets& TextBuckets() {
  static const Buckets kBuckets = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                   0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5};
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

// Histograms of one model.
class ModelHistograms : public ModelMetrics {
 public:
  ModelHistograms(prometheus::Registry& registry, const std::string& model, Family<Counter>& success)
      : registry_(registry), model_(model), success_(success) {}

  void CountParams(int64_t num_answers, int64_t max_tokens) override {
    params_n_.Observe(static_cast<double>(num_answers));
    params_max_tokens_.Observe(static_cast<double>(max_tokens));
  }

  void CountTokenize(double seconds) override { tokenize_.Observe(seconds); }
  void CountDetokenize(double seconds) override { detokenize_.Observe(seconds); }
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
  prometheus::Histogram& Add(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add({{"model", model_}}, buckets);
  }

  prometheus::Registry& registry_;
  const std::string model_;
  Family<Counter>& success_;
  prometheus::Histogram& first_token_ =
      Add("adit_time_to_first_token_seconds", "From submission to the first token", FirstTokenBuckets());
  prometheus::Histogram& interval_ =
      Add("adit_inter_token_latency_seconds", "Between two tokens of an answer", IntervalBuckets());
  prometheus::Histogram& per_token_ =
      Add("adit_request_time_per_output_token_seconds", "Mean time between the tokens of an answer", IntervalBuckets());
  prometheus::Histogram& latency_ =
      Add("adit_e2e_request_latency_seconds", "From header to last byte, of answers", LatencyBuckets());
  prometheus::Histogram& queue_ =
      Add("adit_request_queue_time_seconds", "From submission to the first step", LatencyBuckets());
  prometheus::Histogram& inference_ =
      Add("adit_request_inference_time_seconds", "From the first step to the end", LatencyBuckets());
  prometheus::Histogram& prefill_ =
      Add("adit_request_prefill_time_seconds", "From the first step to the first token", LatencyBuckets());
  prometheus::Histogram& decode_ =
      Add("adit_request_decode_time_seconds", "From the first token to the end", LatencyBuckets());
  prometheus::Histogram& prompt_tokens_ = Add("adit_request_prompt_tokens", "Tokens of prompts", TokenBuckets());
  prometheus::Histogram& generation_tokens_ =
      Add("adit_request_generation_tokens", "Tokens of answers", TokenBuckets());
  prometheus::Histogram& tokenize_ = Add("adit_tokenize_seconds", "Making tokens of a request's prompt", TextBuckets());
  prometheus::Histogram& detokenize_ =
      Add("adit_detokenize_seconds", "Making text of an answer's tokens, from first to last", TextBuckets());
  prometheus::Histogram& params_n_ = Add("adit_request_params_n", "Answers asked for", CountBuckets());
  prometheus::Histogram& params_max_tokens_ =
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
    MetricFamilies all(registry_.Collect());
    for (const ModelFigures& model : now.models) AddModel(model, now.peak_bytes_per_s, all);
    AddHost(now, all);
    std::vector<MetricFamily> families = all.Take();
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

  prometheus::Histogram& AddHistogram(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add(labels(), buckets);
  }
  Family<Counter>& AddCounters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
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
  void AddHost(const MetricsNow& now, MetricFamilies& out) const {
    const MetricLabels labels = {{"model", model_}};
    const auto gauge = [&](const char* name, const char* help, auto value) {
      out.Gauge(name, help, static_cast<double>(value), labels);
    };
    const HostFigures& host = now.host;
    out.Count("process_cpu_seconds_total", "Processor time used", host.cpu_seconds, labels);
    gauge("process_start_time_seconds", "When the process began, since the epoch", host.start_time_s);
    gauge("process_resident_memory_bytes", "Memory that the process occupies", now.resident_bytes);
    gauge("process_virtual_memory_bytes", "Addresses taken", host.virtual_bytes);
    gauge("process_open_fds", "Open files and sockets", host.open_files);
    gauge("process_max_fds", "Most that may be open", host.max_files);
    gauge("process_threads", "Threads", host.num_threads);
    gauge("adit_cpus", "Processors that the process may run on", host.num_cpus);
    if (host.cpu_hertz > 0) gauge("adit_cpu_frequency_hertz", "Clock of the processors, mean", host.cpu_hertz);
    for (const Energy& part : now.energies) {
      out.Count("adit_energy_joules_total",
                "Energy that the machine has used since the server began, all its programs together", part.joules,
                {{"domain", part.domain}});
    }
    gauge("adit_http_connections", "Connections open now", now.http.connections);
    out.Count("adit_http_connections_accepted_total", "Connections taken", static_cast<double>(now.http.accepted),
              labels);
    gauge("adit_ready", "1 when requests are answered", now.ready ? 1 : 0);
    out.Info("adit_build_info", "The version", {{"version", version_}, {"model", model_}});
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
  prometheus::Histogram& validation_ = AddHistogram(
      "adit_request_validation_seconds", "From header to submission: reading, checking, making tokens", HttpBuckets());
  prometheus::Histogram& max_generation_tokens_ =
      AddHistogram("adit_request_max_num_generation_tokens", "Tokens of the longest answer", TokenBuckets());
  prometheus::Histogram& http_seconds_ =
      AddHistogram("http_request_duration_seconds", "From header to last byte", HttpBuckets());

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
