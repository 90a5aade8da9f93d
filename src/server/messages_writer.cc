#include "server/messages_writer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Kind = OutputDelta::Kind;

const char* ErrorType(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 408:
      return "timeout_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

// What tokens cost. Those found in the cache are counted apart.
OrderedJson MessagesUsage(const ApiUsage& usage) {
  return {{"input_tokens", usage.prompt_tokens - usage.cached_tokens},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", usage.cached_tokens},
          {"output_tokens", usage.output_tokens},
          {"output_tokens_details", {{"thinking_tokens", usage.reasoning_tokens}}}};
}

class MessagesWriter : public AnswerWriter {
 public:
  MessagesWriter(ApiAnswer& answer, AnswerHead head) : answer_(answer), head_(std::move(head)) {}

  std::string Body() override {
    const AnswerChoice::News news = answer_.choice(0).TakeNews();
    OrderedJson content = OrderedJson::array();
    for (const OutputDelta& delta : news.deltas) {
      OrderedJson block = OpenBlock(delta);
      if (delta.kind == Kind::kContent) block["text"] = delta.text;
      if (delta.kind == Kind::kReasoning) {
        block["thinking"] = delta.text;
        block["signature"] = head_.id;
      }
      if (delta.kind == Kind::kToolCall) block["input"] = Input(delta.text);
      content.push_back(std::move(block));
    }
    OrderedJson message = Message();
    message["content"] = std::move(content);
    message["stop_reason"] = StopReason();
    message["stop_sequence"] = StopSequence();
    AddVerdicts(answer_.choice(0), message);
    message["usage"] = MessagesUsage(answer_.usage());
    return JsonText(message);
  }

  void Write(std::string& out) override {
    AnswerChoice& choice = answer_.choice(0);
    const bool ended = choice.finish_reason() != nullptr;
    if (!ended && (!choice.has_news() || choice.num_tokens() - num_tokens_ < answer_.request().stream.interval)) return;
    num_tokens_ = choice.num_tokens();
    Begin(out);
    for (const OutputDelta& delta : choice.TakeNews().deltas) Tell(delta, out);
  }

  void WriteEnd(std::string& out) override {
    Begin(out);
    CloseBlock(out);
    OrderedJson last = {{"delta", {{"stop_reason", StopReason()}, {"stop_sequence", StopSequence()}}},
                        {"usage", MessagesUsage(answer_.usage())}};
    AddVerdicts(answer_.choice(0), last);
    Event("message_delta", std::move(last), out);
    Event("message_stop", OrderedJson::object(), out);
  }

  void WriteFailure(const ApiError& error, std::string& out) override {
    WriteNamedEvent("error", MessagesError(error, head_.id), out);
  }

  const char* ping() const override { return "event: ping\ndata: {\"type\":\"ping\"}\n\n"; }

 private:
  OrderedJson Message() const {
    return {{"id", "msg_" + head_.id},
            {"type", "message"},
            {"role", "assistant"},
            {"model", answer_.request().model},
            {"content", OrderedJson::array()},
            {"stop_reason", nullptr},
            {"stop_sequence", nullptr}};
  }

  OrderedJson StopReason() const {
    const AnswerChoice& choice = answer_.choice(0);
    const std::string_view reason = choice.finish_reason();
    if (choice.blocked()) return "refusal";
    if (choice.stop()) return "stop_sequence";
    if (reason == "tool_calls") return "tool_use";
    return reason == "stop" ? "end_turn" : "max_tokens";
  }
  OrderedJson StopSequence() const {
    const std::optional<size_t> stop = answer_.choice(0).stop();
    return stop && !answer_.choice(0).blocked() ? OrderedJson(answer_.request().stops[*stop]) : OrderedJson();
  }

  // Arguments that are no object, which a model may write, are no input.
  static OrderedJson Input(const std::string& arguments) {
    OrderedJson input = OrderedJson::parse(arguments, nullptr, /*allow_exceptions=*/false);
    return input.is_object() ? input : OrderedJson::object();
  }

  // The block that a delta is of, without its text.
  OrderedJson OpenBlock(const OutputDelta& delta) {
    switch (delta.kind) {
      case Kind::kContent:
        return {{"type", "text"}, {"text", ""}};
      case Kind::kReasoning:
        return {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}};
      case Kind::kToolCall:
        break;
    }
    return {{"type", "tool_use"},
            {"id", fmt::format("toolu_{}_{}", head_.id, num_calls_++)},
            {"name", delta.name},
            {"input", OrderedJson::object()}};
  }

  static void Event(const char* type, OrderedJson data, std::string& out) {
    OrderedJson event = {{"type", type}};
    event.update(data);
    WriteNamedEvent(type, event, out);
  }

  void Begin(std::string& out) {
    if (std::exchange(begun_, true)) return;
    OrderedJson message = Message();
    ApiUsage usage = answer_.usage();
    usage.output_tokens = 0;
    message["usage"] = MessagesUsage(usage);
    Event("message_start", {{"message", std::move(message)}}, out);
  }

  void Tell(const OutputDelta& delta, std::string& out) {
    if (open_ != delta.kind || delta.kind == Kind::kToolCall) {
      CloseBlock(out);
      open_ = delta.kind;
      Event("content_block_start", {{"index", index_}, {"content_block", OpenBlock(delta)}}, out);
    }
    switch (delta.kind) {
      case Kind::kContent:
        return TellDelta({{"type", "text_delta"}, {"text", delta.text}}, out);
      case Kind::kReasoning:
        return TellDelta({{"type", "thinking_delta"}, {"thinking", delta.text}}, out);
      case Kind::kToolCall:
        return TellDelta({{"type", "input_json_delta"}, {"partial_json", JsonText(Input(delta.text))}}, out);
    }
  }

  void TellDelta(OrderedJson delta, std::string& out) const {
    Event("content_block_delta", {{"index", index_}, {"delta", std::move(delta)}}, out);
  }

  void CloseBlock(std::string& out) {
    if (!open_) return;
    // Clients send thoughts back only with a signature; nothing here asks whether it is right.
    if (open_ == Kind::kReasoning) TellDelta({{"type", "signature_delta"}, {"signature", head_.id}}, out);
    Event("content_block_stop", {{"index", index_}}, out);
    open_.reset();
    ++index_;
  }

  ApiAnswer& answer_;
  const AnswerHead head_;
  bool begun_ = false;
  std::optional<Kind> open_;  // of the block that has been opened and not closed
  int64_t index_ = 0;         // of that block, or of the next one
  int64_t num_calls_ = 0;
  int64_t num_tokens_ = 0;  // that the last events told of
};

}  // namespace

std::unique_ptr<AnswerWriter> MakeMessagesWriter(ApiAnswer& answer, const AnswerHead& head) {
  return std::make_unique<MessagesWriter>(answer, head);
}

OrderedJson MessagesError(const ApiError& error, const std::string& request_id) {
  return {{"type", "error"},
          {"error", {{"type", ErrorType(error.status)}, {"message", error.message}}},
          {"request_id", request_id}};
}

}  // namespace adit::server
