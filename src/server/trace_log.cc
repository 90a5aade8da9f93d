#include "server/trace_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxSteps = 20'000;
constexpr size_t kMaxTracedRequests = 5'000;
constexpr int kProcess = 1;
constexpr int kEngineThread = 1;
constexpr int kRequestThread = 2;

// Events are placed in microseconds.
double Micros(double seconds) { return seconds * 1e6; }

OrderedJson Slice(const char* name, double begin_s, double length_s, OrderedJson arguments) {
  return {{"name", name},
          {"cat", "engine"},
          {"ph", "X"},
          {"pid", kProcess},
          {"tid", kEngineThread},
          {"ts", Micros(begin_s)},
          {"dur", Micros(length_s)},
          {"args", std::move(arguments)}};
}

OrderedJson ThreadName(int thread, const char* name) {
  return {{"name", "thread_name"}, {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"args", {{"name", name}}}};
}

// The begin and the end of a part of a request. Parts with one id lie in one row.
void AddSpan(const std::string& id, const std::string& name, double begin_s, double end_s, const OrderedJson& arguments,
             OrderedJson& events) {
  if (end_s < begin_s) return;
  for (const bool begins : {true, false}) {
    OrderedJson event = {{"name", name},
                         {"cat", "request"},
                         {"ph", begins ? "b" : "e"},
                         {"id", id},
                         {"pid", kProcess},
                         {"tid", kRequestThread},
                         {"ts", Micros(begins ? begin_s : end_s)}};
    if (begins) event["args"] = arguments;
    events.push_back(std::move(event));
  }
}

}  // namespace

void TraceLog::NoteEngine(const std::string& model, const engine::EngineStats& stats) {
  const std::lock_guard lock(mutex_);
  engine::EngineStats& last = last_[model];
  // A model that has been loaded again counts from 0.
  if (stats.scheduler.steps < last.scheduler.steps) last = {};
  const int64_t count = stats.scheduler.steps - last.scheduler.steps;
  if (count <= 0) return;
  steps_.push_back({.model = model,
                    .end_s = stats.last_step_s,
                    .count = count,
                    .plan_s = stats.plan_seconds - last.plan_seconds,
                    .model_s = stats.model_seconds - last.model_seconds,
                    .sample_s = stats.sample_seconds - last.sample_seconds,
                    .prompt_tokens = stats.scheduler.prompt_tokens - last.scheduler.prompt_tokens,
                    .output_tokens = stats.scheduler.output_tokens - last.scheduler.output_tokens,
                    .running = stats.num_running,
                    .waiting = stats.num_waiting});
  last = stats;
  if (steps_.size() > kMaxSteps) steps_.pop_front();
}

void TraceLog::NoteRequest(const RequestRecord& record, bool client_gone, double now_s) {
  const std::lock_guard lock(mutex_);
  requests_.push_back({.id = record.id,
                       .route = record.method + " " + record.route,
                       .status = client_gone ? 499 : record.status,
                       .begin_s = record.start_s,
                       .end_s = now_s,
                       .queue_s = record.queue_s,
                       .first_token_s = record.first_token_s,
                       .generates = record.generates,
                       .prompt_tokens = record.prompt_tokens,
                       .cached_tokens = record.cached_tokens,
                       .output_tokens = record.output_tokens.load(std::memory_order_relaxed),
                       .finish_reason = record.finish_reason});
  if (requests_.size() > kMaxTracedRequests) requests_.pop_front();
}

std::string TraceLog::ChromeTrace(double seconds, double now_s) const {
  const double from_s = now_s - seconds;
  OrderedJson events = OrderedJson::array();
  events.push_back(ThreadName(kEngineThread, "engine"));
  events.push_back(ThreadName(kRequestThread, "requests"));
  const std::lock_guard lock(mutex_);
  for (const Steps& steps : steps_) {
    if (steps.end_s < from_s) continue;
    const double length_s = steps.plan_s + steps.model_s + steps.sample_s;
    double begin_s = steps.end_s - length_s;
    events.push_back(Slice(steps.count == 1 ? "step" : "steps", begin_s, length_s,
                           {{"model", steps.model},
                            {"steps", steps.count},
                            {"prompt_tokens", steps.prompt_tokens},
                            {"output_tokens", steps.output_tokens},
                            {"running", steps.running}}));
    for (const auto& [name, part_s] :
         {std::pair("plan", steps.plan_s), std::pair("model", steps.model_s), std::pair("sample", steps.sample_s)}) {
      events.push_back(Slice(name, begin_s, part_s, OrderedJson::object()));
      begin_s += part_s;
    }
    events.push_back({{"name", "sequences"},
                      {"ph", "C"},
                      {"pid", kProcess},
                      {"ts", Micros(steps.end_s)},
                      {"args", {{"running", steps.running}, {"waiting", steps.waiting}}}});
  }
  for (const Request& request : requests_) {
    if (request.end_s < from_s) continue;
    AddSpan(request.id, request.route, request.begin_s, request.end_s,
            {{"status", request.status},
             {"prompt_tokens", request.prompt_tokens},
             {"cached_tokens", request.cached_tokens},
             {"output_tokens", request.output_tokens},
             {"finish_reason", request.finish_reason}},
            events);
    if (!request.generates || request.first_token_s <= 0) continue;
    const double queued_s = request.begin_s + std::min(request.queue_s, request.first_token_s);
    const double first_s = request.begin_s + request.first_token_s;
    AddSpan(request.id, "queue", request.begin_s, queued_s, OrderedJson::object(), events);
    AddSpan(request.id, "prefill", queued_s, first_s, OrderedJson::object(), events);
    AddSpan(request.id, "decode", first_s, request.end_s, OrderedJson::object(), events);
  }
  return OrderedJson{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump(
      -1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
}

}  // namespace adit::server
