#include "server/ollama_writer.h"

#include <fmt/core.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Kind = OutputDelta::Kind;

// Times are told in whole nanoseconds.
int64_t Nanoseconds(double seconds) { return seconds > 0 ? std::llround(seconds * 1e9) : 0; }

class OllamaWriter : public AnswerWriter {
 public:
  OllamaWriter(ApiAnswer& answer, bool is_chat) : answer_(answer), is_chat_(is_chat) {}

  std::string Body() override { return JsonText(Last(answer_.choice(0).TakeNews().deltas)); }

  void Write(std::string& out) override {
    AnswerChoice& choice = answer_.choice(0);
    if (!choice.has_news() || choice.num_tokens() - num_tokens_ < answer_.request().stream.interval) return;
    num_tokens_ = choice.num_tokens();
    WriteLine(Part(choice.TakeNews().deltas), out);
  }

  void WriteEnd(std::string& out) override {
    AnswerChoice& choice = answer_.choice(0);
    if (choice.has_news()) WriteLine(Part(choice.TakeNews().deltas), out);
    WriteLine(Last({}), out);
  }
  void WriteFailure(const ApiError& error, std::string& out) override { out += OllamaErrorText(error) + "\n"; }
  const char* ping() const override { return ""; }
  const char* stream_type() const override { return "application/x-ndjson"; }

 private:
  OrderedJson Part(const std::vector<OutputDelta>& deltas) const {
    OrderedJson line = {{"model", answer_.request().model}, {"created_at", OllamaNow()}};
    std::string text;
    std::string thoughts;
    OrderedJson calls = OrderedJson::array();
    for (const OutputDelta& delta : deltas) {
      if (delta.kind == Kind::kContent) text += delta.text;
      if (delta.kind == Kind::kReasoning) thoughts += delta.text;
      if (delta.kind == Kind::kToolCall) {
        OrderedJson arguments = OrderedJson::parse(delta.text, nullptr, /*allow_exceptions=*/false);
        calls.push_back(
            {{"function",
              {{"name", delta.name}, {"arguments", arguments.is_object() ? arguments : OrderedJson::object()}}}});
      }
    }
    if (is_chat_) {
      OrderedJson message = {{"role", "assistant"}, {"content", text}};
      if (!thoughts.empty()) message["thinking"] = thoughts;
      if (!calls.empty()) message["tool_calls"] = std::move(calls);
      line["message"] = std::move(message);
    } else {
      line["response"] = text;
      if (!thoughts.empty()) line["thinking"] = thoughts;
    }
    line["done"] = false;
    return line;
  }

  OrderedJson Last(const std::vector<OutputDelta>& deltas) const {
    const AnswerChoice& choice = answer_.choice(0);
    const AnswerStats& stats = choice.stats();
    const ApiUsage usage = answer_.usage();
    OrderedJson line = Part(deltas);
    line["done"] = true;
    line["done_reason"] =
        choice.finish_reason() != nullptr && std::string_view(choice.finish_reason()) == "length" ? "length" : "stop";
    line["total_duration"] = Nanoseconds(stats.total_seconds);
    line["load_duration"] = 0;
    line["prompt_eval_count"] = usage.prompt_tokens;
    line["prompt_eval_duration"] = Nanoseconds(stats.first_token_seconds - stats.queue_seconds);
    line["eval_count"] = usage.output_tokens;
    line["eval_duration"] = Nanoseconds(stats.total_seconds - stats.first_token_seconds);
    return line;
  }

  ApiAnswer& answer_;
  const bool is_chat_;
  int64_t num_tokens_ = 0;  // that the last line told of
};

}  // namespace

std::unique_ptr<AnswerWriter> MakeOllamaChatWriter(ApiAnswer& answer, const AnswerHead&) {
  return std::make_unique<OllamaWriter>(answer, /*is_chat=*/true);
}
std::unique_ptr<AnswerWriter> MakeOllamaGenerateWriter(ApiAnswer& answer, const AnswerHead&) {
  return std::make_unique<OllamaWriter>(answer, /*is_chat=*/false);
}

std::string OllamaErrorText(const ApiError& error) { return JsonText(OrderedJson{{"error", error.message}}); }

std::string OllamaTime(double seconds_since_epoch) {
  const auto whole = static_cast<std::time_t>(seconds_since_epoch);
  std::tm parts = {};
  (void)::gmtime_r(&whole, &parts);
  const auto micros = static_cast<int64_t>((seconds_since_epoch - static_cast<double>(whole)) * 1e6);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, micros);
}

std::string OllamaNow() { return OllamaTime(UnixSeconds()); }

void WriteLine(const OrderedJson& line, std::string& out) { out += JsonText(line) + "\n"; }

}  // namespace adit::server
