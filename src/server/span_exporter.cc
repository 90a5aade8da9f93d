#include "server/span_exporter.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "server/answer_writer.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Of opentelemetry/proto/trace/v1.
constexpr int kKindInternal = 1;
constexpr int kKindServer = 2;
constexpr int kStatusError = 2;

// Requests in one body.
constexpr size_t kMostInBody = 256;

// Never zero.
std::string NewSpanId() { return fmt::format("{:016x}", NewIdBits() | 1); }
std::string NewTraceId() { return NewSpanId() + NewSpanId(); }

void Add(const char* key, std::string value, OrderedJson& attributes) {
  attributes.push_back({{"key", key}, {"value", {{"stringValue", std::move(value)}}}});
}
// 64-bit integers are strings in the JSON of protocol buffers.
void Add(const char* key, int64_t value, OrderedJson& attributes) {
  attributes.push_back({{"key", key}, {"value", {{"intValue", std::to_string(value)}}}});
}

// Nanoseconds since 1970 of a time of the steady clock, told that it is `now_s` there now.
class WallClock {
 public:
  explicit WallClock(double now_s)
      : now_s_(now_s),
        now_ns_(
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
                .count()) {}
  std::string At(double time_s) const {
    return std::to_string(now_ns_ - static_cast<int64_t>((now_s_ - time_s) * 1e9));
  }

 private:
  const double now_s_;
  const int64_t now_ns_;
};

// gen_ai.operation.name; empty for what is none.
std::string_view OperationOf(std::string_view route) {
  for (const auto& [end, name] :
       {std::pair("/chat/completions", "chat"), std::pair("/responses", "chat"), std::pair("/messages", "chat"),
        std::pair("/api/chat", "chat"), std::pair("/completions", "text_completion"),
        std::pair("/infill", "text_completion"), std::pair("/api/generate", "text_completion"),
        std::pair("/embeddings", "embeddings"), std::pair("/api/embed", "embeddings")}) {
    if (route.ends_with(end)) return name;
  }
  return {};
}

OrderedJson AttributesOf(const RequestRecord& record, std::string_view operation, int status) {
  OrderedJson attributes = OrderedJson::array();
  Add("http.request.method", record.method, attributes);
  Add("http.route", record.route, attributes);
  Add("http.response.status_code", int64_t{status}, attributes);
  if (!record.error_code.empty()) Add("error.type", record.error_code, attributes);
  Add("adit.request.id", record.id, attributes);
  Add("adit.tenant", record.tenant, attributes);
  if (!operation.empty()) {
    Add("gen_ai.operation.name", std::string(operation), attributes);
    Add("gen_ai.provider.name", "adit", attributes);
  }
  if (!record.model.empty()) {
    Add("gen_ai.request.model", record.model, attributes);
    Add("gen_ai.response.model", record.model, attributes);
  }
  if (record.prompt_tokens > 0) Add("gen_ai.usage.input_tokens", record.prompt_tokens, attributes);
  if (!record.generates) return attributes;
  Add("gen_ai.usage.output_tokens", record.output_tokens.load(std::memory_order_relaxed), attributes);
  Add("adit.usage.cached_tokens", record.cached_tokens, attributes);
  if (!record.finish_reason.empty()) {
    attributes.push_back({{"key", "gen_ai.response.finish_reasons"},
                          {"value", {{"arrayValue", {{"values", {{{"stringValue", record.finish_reason}}}}}}}}});
  }
  return attributes;
}

// The spans of a request, between commas.
std::string SpansOf(const RequestRecord& record, bool client_gone, double now_s) {
  const WallClock clock(now_s);
  const int status = client_gone ? 499 : record.status;
  const std::string trace_id = record.trace.trace_id.empty() ? NewTraceId() : record.trace.trace_id;
  const auto make_span = [&](const std::string& parent_id, std::string name, int kind, double begin_s, double end_s,
                             OrderedJson attributes) {
    OrderedJson span = {{"traceId", trace_id},
                        {"spanId", NewSpanId()},
                        {"name", std::move(name)},
                        {"kind", kind},
                        {"startTimeUnixNano", clock.At(begin_s)},
                        {"endTimeUnixNano", clock.At(end_s)},
                        {"attributes", std::move(attributes)}};
    if (!parent_id.empty()) span["parentSpanId"] = parent_id;
    return span;
  };
  const std::string_view operation = OperationOf(record.route);
  OrderedJson whole =
      make_span(record.trace.parent_id,
                operation.empty() ? record.method + " " + record.route : fmt::format("{} {}", operation, record.model),
                kKindServer, record.start_s, now_s, AttributesOf(record, operation, status));
  if (status >= 500) whole["status"] = {{"code", kStatusError}, {"message", record.error_code}};
  std::string spans = JsonText(whole);
  const auto add_child = [&](const char* name, double begin_s, double end_s, OrderedJson attributes) {
    if (end_s < begin_s) return;
    spans += "," + JsonText(make_span(whole["spanId"], name, kKindInternal, begin_s, end_s, std::move(attributes)));
  };
  if (!record.generates || record.submitted_s <= 0) return spans;
  const double submitted_s = record.start_s + record.submitted_s;
  add_child("tokenize", record.start_s, submitted_s, OrderedJson::array());
  if (record.first_token_s <= 0) return spans;
  const double first_s = record.start_s + record.first_token_s;
  const double begun_s = std::min(first_s, submitted_s + record.queue_s);
  OrderedJson prefill = OrderedJson::array();
  Add("adit.prefill.tokens", record.prompt_tokens - record.cached_tokens, prefill);
  Add("adit.prefill.chunks", record.num_chunks, prefill);
  add_child("queue", submitted_s, begun_s, OrderedJson::array());
  add_child("prefill", begun_s, first_s, std::move(prefill));
  add_child("decode", first_s, now_s, OrderedJson::array());
  return spans;
}

std::string BodyOf(const std::deque<std::string>& spans, size_t count, const std::string& version) {
  OrderedJson resource = OrderedJson::array();
  Add("service.name", "adit", resource);
  Add("service.version", version, resource);
  std::string body = fmt::format(
      R"({{"resourceSpans":[{{"resource":{{"attributes":{}}},"scopeSpans":[{{"scope":{{"name":"adit"}},"spans":[)",
      resource.dump());
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) body += ',';
    body += spans[i];
  }
  return body + "]}]}]}";
}

}  // namespace

SpanExporter::SpanExporter(SpanExporterOptions options, Send send, Note note)
    : options_(std::move(options)), send_(std::move(send)), note_(std::move(note)), thread_([this] { Run(); }) {}

SpanExporter::~SpanExporter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SpanExporter::NoteRequest(const RequestRecord& record, bool client_gone, double now_s) {
  if (record.method != "POST" || record.route.empty() || !record.trace.sampled) return;
  std::string spans = SpansOf(record, client_gone, now_s);
  const std::lock_guard lock(mutex_);
  spans_.push_back(std::move(spans));
  if (spans_.size() <= options_.max_queued) return;
  spans_.pop_front();
  ++num_dropped_;
}

int64_t SpanExporter::num_dropped() const {
  const std::lock_guard lock(mutex_);
  return num_dropped_;
}

void SpanExporter::Run() {
  double wait_s = options_.interval_s;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_for(lock, std::chrono::duration<double>(wait_s), [this] { return stopping_; });
    const bool last = stopping_;
    bool failed = false;
    while (!spans_.empty() && !failed) {
      const size_t count = std::min(spans_.size(), kMostInBody);
      const std::string body = BodyOf(spans_, count, options_.version);
      const int64_t dropped_before = num_dropped_;
      lock.unlock();
      const Status status = send_(body);
      const bool fails_anew = !status.ok() && wait_s <= options_.interval_s;
      if (fails_anew) note_("traces: " + status.message() + "; spans wait, and then are dropped");
      if (status.ok() && wait_s > options_.interval_s) note_("traces: the collector takes spans again");
      lock.lock();
      failed = !status.ok();
      wait_s = failed ? std::min(options_.longest_s, 2 * wait_s) : options_.interval_s;
      // What was dropped meanwhile was the first of what has been sent.
      const auto gone = static_cast<size_t>(num_dropped_ - dropped_before);
      if (!failed && gone < count)
        spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(count - gone));
    }
    if (last) return;
  }
}

}  // namespace adit::server
