// Calls written as JSON.
#include <nlohmann/json.hpp>

#include "server/json_fields.h"
#include "server/tool_parser_internal.h"

namespace adit::server {
namespace {

// Bytes of the object or list that `text` begins with; 0 when it has no end.
size_t ValueSize(std::string_view text) {
  if (text.front() != '{' && text.front() != '[') return 0;
  int64_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (in_string) {
      if (byte == '\\') {
        ++i;
      } else if (byte == '"') {
        in_string = false;
      }
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '{' || byte == '[') {
      ++depth;
    } else if (byte == '}' || byte == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return 0;
}

bool AddCall(const OrderedJson& json, const char* name_key, std::vector<OutputDelta>& calls) {
  std::optional<OutputDelta> call = CallOf(json, name_key);
  if (!call) return false;
  calls.push_back(*std::move(call));
  return true;
}

bool AddCalls(const OrderedJson& json, const char* name_key, std::vector<OutputDelta>& calls) {
  if (!json.is_array()) return AddCall(json, name_key, calls);
  for (const OrderedJson& item : json) {
    if (!AddCall(item, name_key, calls)) return false;
  }
  return true;
}

}  // namespace

std::optional<OrderedJson> ParseOrdered(std::string_view text) {
  // The one that bounds the depth; the other keeps the order of the arguments.
  if (text.size() > kMaxCallBytes || !ParseJson(text).ok()) return std::nullopt;
  return OrderedJson::parse(text);
}

std::optional<OutputDelta> CallOf(const OrderedJson& json, const char* name_key) {
  if (!json.is_object()) return std::nullopt;
  const auto name = json.find(name_key);
  if (name == json.end() || !name->is_string() || name->get_ref<const std::string&>().empty()) return std::nullopt;
  OutputDelta call{.kind = OutputDelta::Kind::kToolCall, .text = "{}", .name = name->get<std::string>()};
  for (const char* key : {"arguments", "parameters"}) {
    const auto arguments = json.find(key);
    if (arguments == json.end() || arguments->is_null()) continue;
    if (arguments->is_object()) {
      call.text = arguments->dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    } else if (arguments->is_string() && OrderedJson::accept(arguments->get_ref<const std::string&>())) {
      call.text = arguments->get<std::string>();
    } else {
      return std::nullopt;
    }
    break;
  }
  return call;
}

bool ReadJsonCalls(std::string_view text, std::vector<OutputDelta>& calls) {
  while (true) {
    while (!text.empty() && (IsJsonSpace(text.front()) || text.front() == ';' || text.front() == ',')) {
      text.remove_prefix(1);
    }
    if (text.empty()) return !calls.empty();
    const size_t size = ValueSize(text);
    const std::optional<OrderedJson> json = size == 0 ? std::nullopt : ParseOrdered(text.substr(0, size));
    if (!json || !AddCalls(*json, "name", calls)) return false;
    text.remove_prefix(size);
  }
}

bool ReadCommandCalls(std::string_view text, std::vector<OutputDelta>& calls) {
  const std::optional<OrderedJson> json = ParseOrdered(text);
  return json && AddCalls(*json, "tool_name", calls) && !calls.empty();
}

bool ReadDeepSeekCalls(std::string_view text, std::vector<OutputDelta>& calls) {
  constexpr std::string_view kBegin = "<｜tool▁call▁begin｜>";
  constexpr std::string_view kSeparator = "<｜tool▁sep｜>";
  constexpr std::string_view kEnd = "<｜tool▁call▁end｜>";
  constexpr std::string_view kFence = "```";
  for (text = TrimJsonSpace(text); !text.empty(); text = TrimJsonSpace(text)) {
    if (!text.starts_with(kBegin)) return false;
    text.remove_prefix(kBegin.size());
    const size_t end = text.find(kEnd);
    std::string_view call = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kEnd.size());
    const size_t separator = call.find(kSeparator);
    if (separator == std::string_view::npos) return false;
    std::string_view name = TrimJsonSpace(call.substr(0, separator));
    std::string_view arguments = call.substr(separator + kSeparator.size());
    // V3 and R1 write a kind, the name on a line, and the arguments as a block of code; V3.1 the name and the
    // arguments.
    if (const size_t fence = arguments.find(kFence); name == "function" && fence != std::string_view::npos) {
      name = TrimJsonSpace(arguments.substr(0, fence));
      arguments.remove_prefix(fence + kFence.size());
      if (arguments.starts_with("json")) arguments.remove_prefix(4);
      arguments = TrimJsonSpace(arguments);
      if (arguments.ends_with(kFence)) arguments.remove_suffix(kFence.size());
    }
    const std::optional<OrderedJson> json = ParseOrdered(TrimJsonSpace(arguments));
    if (name.empty() || !json || !json->is_object()) return false;
    if (!AddCall({{"name", std::string(name)}, {"arguments", *json}}, "name", calls)) return false;
  }
  return !calls.empty();
}

}  // namespace adit::server
