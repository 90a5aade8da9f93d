#include "server/responses_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Kind = OutputDelta::Kind;

OrderedJson ResponsesUsage(const ApiUsage& usage) {
  return {{"input_tokens", usage.prompt_tokens},
          {"input_tokens_details", {{"cached_tokens", usage.cached_tokens}, {"cache_write_tokens", 0}}},
          {"output_tokens", usage.output_tokens},
          {"output_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}},
          {"total_tokens", usage.prompt_tokens + usage.output_tokens}};
}

class ResponsesWriter : public AnswerWriter {
 public:
  ResponsesWriter(ApiAnswer& answer, const AnswerHead& head, ResponseFrame frame)
      : answer_(answer), created_s_(head.created_s), frame_(std::move(frame)) {}

  std::string Body() override {
    // What a stream would say, for the response that it ends with.
    std::string events;
    TellNews(events);
    CloseItem(/*last=*/true, events);
    return JsonText(Finished());
  }

  void Write(std::string& out) override {
    const AnswerChoice& choice = answer_.choice(0);
    const bool ended = choice.finish_reason() != nullptr;
    if (!ended && (!choice.has_news() || choice.num_tokens() - num_tokens_ < answer_.request().stream.interval)) return;
    num_tokens_ = choice.num_tokens();
    Begin(out);
    TellNews(out);
  }

  void WriteEnd(std::string& out) override {
    Begin(out);
    CloseItem(/*last=*/true, out);
    const OrderedJson response = Finished();
    Event(response["status"] == "completed" ? "response.completed" : "response.incomplete", {{"response", response}},
          out);
  }

  void WriteFailure(const ApiError& error, std::string& out) override {
    Begin(out);
    OrderedJson response = Response("failed");
    response["error"] = {{"code", error.code.empty() ? "server_error" : error.code}, {"message", error.message}};
    Keep(response);
    Event("response.failed", {{"response", std::move(response)}}, out);
  }

 private:
  // The object, with the output so far.
  OrderedJson Response(const char* status) const {
    const ApiRequest& request = answer_.request();
    const SamplingParams& sampling = request.generation.sampling;
    OrderedJson response = {{"id", "resp_" + frame_.id},
                            {"object", "response"},
                            {"created_at", created_s_},
                            {"status", status},
                            {"background", false},
                            {"error", nullptr},
                            {"incomplete_details", nullptr},
                            {"instructions", nullptr},
                            {"max_output_tokens", nullptr},
                            {"max_tool_calls", nullptr},
                            {"model", request.model},
                            {"output", output_},
                            {"parallel_tool_calls", request.output.parallel_calls},
                            {"previous_response_id", nullptr},
                            {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                            {"service_tier", ServiceTier(request)},
                            {"store", frame_.store},
                            {"temperature", sampling.temperature},
                            {"text", {{"format", {{"type", "text"}}}}},
                            {"tool_choice", "auto"},
                            {"tools", OrderedJson::array()},
                            {"top_logprobs", std::max(0, sampling.top_logprobs)},
                            {"top_p", sampling.top_p},
                            {"truncation", "disabled"},
                            {"usage", nullptr},
                            {"metadata", OrderedJson::object()}};
    for (const auto& [key, value] : frame_.echo->items()) response[key] = OrderedJson(value);
    return response;
  }

  // How it has come out, kept if that is wished.
  OrderedJson Finished() {
    const AnswerChoice& choice = answer_.choice(0);
    const bool whole = !IsCut();
    OrderedJson response = Response(whole ? "completed" : "incomplete");
    if (whole) response["completed_at"] = WholeUnixSeconds();
    if (!whole) response["incomplete_details"] = {{"reason", WhyIncomplete()}};
    response["usage"] = ResponsesUsage(answer_.usage());
    AddVerdicts(choice, response);
    Keep(response);
    return response;
  }

  bool IsCut() const {
    const std::string_view reason = answer_.choice(0).finish_reason();
    return reason == "length" || reason == "content_filter";
  }

  void Keep(OrderedJson& response) {
    if (frame_.store && !frame_.keep(response)) response["store"] = false;
  }

  const char* WhyIncomplete() const {
    const AnswerChoice& choice = answer_.choice(0);
    if (choice.blocked()) return "content_filter";
    if (choice.has_stats() && choice.stats().reason == FinishReason::kDeadline) return "deadline";
    if (choice.has_stats() && choice.stats().reason == FinishReason::kCancelled) return "cancelled";
    return "max_output_tokens";
  }

  void Event(const char* type, OrderedJson data, std::string& out) {
    OrderedJson event = {{"type", type}, {"sequence_number", sequence_number_++}};
    event.update(data);
    WriteNamedEvent(type, event, out);
  }

  void Begin(std::string& out) {
    if (std::exchange(begun_, true)) return;
    Event("response.created", {{"response", Response("in_progress")}}, out);
    Event("response.in_progress", {{"response", Response("in_progress")}}, out);
  }

  void TellNews(std::string& out) {
    AnswerChoice::News news = answer_.choice(0).TakeNews();
    if (answer_.request().logprobs && !news.tokens.empty()) {
      const OrderedJson told = ChatLogprobs(news.tokens, answer_.names());
      for (const OrderedJson& token : told["content"]) logprobs_.push_back(token);
    }
    for (const OutputDelta& delta : news.deltas) {
      if (open_ != delta.kind || delta.kind == Kind::kToolCall) {
        CloseItem(/*last=*/false, out);
        OpenItem(delta, out);
      }
      Tell(delta, out);
    }
  }

  std::string NewId(const char* prefix) const { return fmt::format("{}{}_{}", prefix, frame_.id, output_.size()); }

  void OpenItem(const OutputDelta& delta, std::string& out) {
    open_ = delta.kind;
    switch (delta.kind) {
      case Kind::kContent:
        item_ = {{"id", NewId("msg_")}, {"type", "message"}, {"status", "in_progress"}, {"role", "assistant"}};
        part_ = {{"type", "output_text"},
                 {"text", ""},
                 {"annotations", OrderedJson::array()},
                 {"logprobs", OrderedJson::array()}};
        break;
      case Kind::kReasoning:
        item_ = {
            {"id", NewId("rs_")}, {"type", "reasoning"}, {"status", "in_progress"}, {"summary", OrderedJson::array()}};
        part_ = {{"type", "reasoning_text"}, {"text", ""}};
        break;
      case Kind::kToolCall:
        item_ = {{"id", NewId("fc_")}, {"type", "function_call"},   {"status", "in_progress"},
                 {"name", delta.name}, {"call_id", NewId("call_")}, {"arguments", ""}};
        part_ = nullptr;
        break;
    }
    if (!part_.is_null()) item_["content"] = OrderedJson::array();
    Event("response.output_item.added", {{"output_index", output_.size()}, {"item", item_}}, out);
    if (part_.is_null()) return;
    OrderedJson added = Place();
    added["part"] = part_;
    Event("response.content_part.added", std::move(added), out);
  }

  // Where in the output the open item, or its part, is.
  OrderedJson Place() const {
    OrderedJson place = {{"item_id", item_["id"]}, {"output_index", output_.size()}};
    if (!part_.is_null()) place["content_index"] = 0;
    return place;
  }

  void Tell(const OutputDelta& delta, std::string& out) {
    OrderedJson told = Place();
    told["delta"] = delta.text;
    switch (delta.kind) {
      case Kind::kContent: {
        OrderedJson logprobs = std::exchange(logprobs_, OrderedJson::array());
        for (const OrderedJson& token : logprobs) part_["logprobs"].push_back(token);
        told["logprobs"] = std::move(logprobs);
        part_["text"].get_ref<std::string&>() += delta.text;
        return Event("response.output_text.delta", std::move(told), out);
      }
      case Kind::kReasoning:
        part_["text"].get_ref<std::string&>() += delta.text;
        return Event("response.reasoning_text.delta", std::move(told), out);
      case Kind::kToolCall:
        item_["arguments"].get_ref<std::string&>() += delta.text;
        return Event("response.function_call_arguments.delta", std::move(told), out);
    }
  }

  // `last`: the answer has ended with it.
  void CloseItem(bool last, std::string& out) {
    if (!open_) return;
    OrderedJson done = Place();
    if (*open_ == Kind::kToolCall) {
      done["name"] = item_["name"];
      done["arguments"] = item_["arguments"];
      Event("response.function_call_arguments.done", std::move(done), out);
    } else {
      const bool is_text = *open_ == Kind::kContent;
      done["text"] = part_["text"];
      if (is_text) done["logprobs"] = part_["logprobs"];
      Event(is_text ? "response.output_text.done" : "response.reasoning_text.done", std::move(done), out);
      done = Place();
      done["part"] = part_;
      Event("response.content_part.done", std::move(done), out);
      item_["content"].push_back(part_);
    }
    const bool cut = last && IsCut();
    item_["status"] = cut ? "incomplete" : "completed";
    Event("response.output_item.done", {{"output_index", output_.size()}, {"item", item_}}, out);
    output_.push_back(std::move(item_));
    open_.reset();
  }

  ApiAnswer& answer_;
  const int64_t created_s_;
  const ResponseFrame frame_;
  OrderedJson output_ = OrderedJson::array();    // items that are whole
  std::optional<Kind> open_;                     // of the item under way
  OrderedJson item_;                             // that item, without the part under way
  OrderedJson part_;                             // that part; null: an item without parts
  OrderedJson logprobs_ = OrderedJson::array();  // of tokens whose text has not been told
  int64_t sequence_number_ = 0;
  int64_t num_tokens_ = 0;  // that the last events told of
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<AnswerWriter> MakeResponsesWriter(ApiAnswer& answer, const AnswerHead& head, ResponseFrame frame) {
  return std::make_unique<ResponsesWriter>(answer, head, std::move(frame));
}

}  // namespace adit::server
