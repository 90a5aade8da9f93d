#include "server/responses_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "server/json_fields.h"
#include "server/responses_items.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxMetadata = 16;
constexpr size_t kMaxLabelBytes = 4096;

class ResponsesReader {
 public:
  ResponsesReader(const Json& body, ResponsesUse use, const std::string& id, const FindConversation& find)
      : fields_(body), use_(use), id_(id), find_(find) {
    request_.chat.body = std::make_shared<Json>(Json::object());
    request_.echo = std::make_shared<Json>(Json::object());
    request_.context = std::make_shared<Json>(Json::array());
    request_.input = std::make_shared<Json>(Json::array());
  }

  std::variant<ResponsesRequest, ApiError> Read() {
    (void)fields_.Text("model", 0, SIZE_MAX);
    PassField(fields_, "model", chat(), "model");
    PassFields(fields_, chat());
    PassField(fields_, "max_output_tokens", chat(), "max_tokens");
    for (const char* key : {"temperature", "top_p", "stream", "parallel_tool_calls", "service_tier"}) {
      PassField(fields_, key, chat(), key);
    }
    PassField(fields_, "max_output_tokens", echo(), "max_output_tokens");
    RefuseUnsupported();
    ReadLabels();
    ReadLogprobs();
    ReadText();
    ReadReasoning();
    ReadTools();
    ReadTruncation();
    ReadStreamOptions();
    request_.store = fields_.Flag("store");
    const std::optional<std::string> instructions = fields_.Text("instructions", 0, SIZE_MAX);
    if (instructions) echo()["instructions"] = *instructions;
    if (!fields_.error()) ReadConversation();
    if (fields_.error()) return *fields_.error();
    Json items = *request_.context;
    items.insert(items.end(), request_.input->begin(), request_.input->end());
    chat()["messages"] = ChatOfItems(items);
    if (instructions && !instructions->empty()) {
      Json& messages = chat()["messages"];
      messages.insert(messages.begin(), Json{{"role", "system"}, {"content", *instructions}});
    }
    for (std::string& name : fields_.Unknown()) ignored().push_back(std::move(name));
    return std::move(request_);
  }

 private:
  Json& chat() { return *request_.chat.body; }
  Json& echo() { return *request_.echo; }
  std::vector<std::string>& ignored() { return request_.chat.ignored; }

  template <typename Take>
  void Inside(const Json& object, const std::string& name, Take take) {
    if (!object.is_object()) return fields_.FailType(name, object, "an object");
    FieldReader reader(object);
    take(reader);
    if (reader.error()) {
      const ApiError& error = *reader.error();
      return fields_.Fail(error.code, name + "." + error.param, fmt::format("in '{}': {}", name, error.message));
    }
    for (const std::string& unknown : reader.Unknown()) ignored().push_back(name + "." + unknown);
  }

  void RefuseUnsupported() {
    if (fields_.Flag("background").value_or(false)) {
      fields_.Fail("unsupported_parameter", "background",
                   "'background' is not supported: an answer is made while its client waits for it");
    }
    for (const char* key : {"conversation", "prompt", "context_management", "moderation"}) {
      const Json* value = fields_.Find(key);
      if (value != nullptr && !value->empty()) {
        fields_.Fail("unsupported_parameter", key, fmt::format("'{}' is not supported", key));
      }
    }
  }

  // Said again in the response, and without effect.
  void ReadLabels() {
    for (const char* key : {"user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"}) {
      const std::optional<std::string> label = fields_.Text(key, 0, kMaxLabelBytes);
      if (!label) continue;
      echo()[key] = *label;
      ignored().emplace_back(key);
    }
    // Of tools that the server runs; there are none.
    if (const std::optional<int64_t> calls = fields_.Whole("max_tool_calls", 1, kMaxInt64); calls) {
      echo()["max_tool_calls"] = *calls;
      ignored().emplace_back("max_tool_calls");
    }
    const Json* metadata = fields_.Find("metadata");
    if (metadata == nullptr) return;
    if (!metadata->is_object()) return fields_.FailType("metadata", *metadata, "an object");
    if (metadata->size() > kMaxMetadata) {
      return fields_.Fail("invalid_value", "metadata",
                          fmt::format("'metadata' has {} entries; it has at most {}", metadata->size(), kMaxMetadata));
    }
    for (const auto& [key, value] : metadata->items()) {
      if (!value.is_string()) return fields_.FailType("metadata." + key, value, "a string");
      if (value.get_ref<const std::string&>().size() > kMaxLabelBytes) {
        return fields_.Fail("string_above_max_length", "metadata." + key,
                            fmt::format("'metadata.{}' is too long", key));
      }
    }
    echo()["metadata"] = *metadata;
  }

  void ReadLogprobs() {
    if (const std::optional<int64_t> top = fields_.Whole("top_logprobs", 0, 20); top && *top > 0) {
      chat()["logprobs"] = true;
      chat()["top_logprobs"] = *top;
    }
    const Json* include = fields_.Find("include");
    if (include == nullptr) return;
    if (!include->is_array()) return fields_.FailType("include", *include, "a list of strings");
    constexpr std::string_view kKnown[] = {"message.output_text.logprobs",  "reasoning.encrypted_content",
                                           "file_search_call.results",      "message.input_image.image_url",
                                           "code_interpreter_call.outputs", "computer_call_output.output.image_url",
                                           "web_search_call.results",       "web_search_call.action.sources"};
    for (size_t i = 0; i < include->size(); ++i) {
      const std::string name = (*include)[i].is_string() ? (*include)[i].get<std::string>() : std::string();
      if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
        return fields_.Fail("invalid_value", fmt::format("include[{}]", i),
                            fmt::format("'include[{}]' is {}, which is not known", i, (*include)[i].dump()));
      }
      if (name == kKnown[0]) {
        chat()["logprobs"] = true;
      } else {
        // Thoughts are told in the open, and the rest is of tools that are not here.
        ignored().push_back("include." + name);
      }
    }
  }

  void ReadText() {
    const Json* text = fields_.Find("text");
    if (text == nullptr) return;
    Inside(*text, "text", [this](FieldReader& reader) {
      if (reader.Text("verbosity", 1, 64)) ignored().emplace_back("text.verbosity");
      const Json* format = reader.Find("format");
      if (format == nullptr) return;
      if (!format->is_object()) return reader.FailType("format", *format, "an object");
      echo()["text"] = {{"format", *format}};
      const Json type = format->value("type", Json());
      if (type != "json_schema") {
        chat()["response_format"] = *format;
        return;
      }
      Json schema = *format;
      schema.erase("type");
      chat()["response_format"] = {{"type", "json_schema"}, {"json_schema", std::move(schema)}};
    });
  }

  void ReadReasoning() {
    const Json* reasoning = fields_.Find("reasoning");
    if (reasoning == nullptr) return;
    Inside(*reasoning, "reasoning", [this](FieldReader& reader) {
      PassField(reader, "effort", chat(), "reasoning_effort");
      for (const char* key : {"summary", "generate_summary"}) {
        if (reader.Text(key, 1, 64)) ignored().push_back(fmt::format("reasoning.{}", key));
      }
    });
    echo()["reasoning"] = {{"effort", reasoning->is_object() ? reasoning->value("effort", Json()) : Json()},
                           {"summary", nullptr}};
  }

  void ReadTools() {
    if (const Json* tools = fields_.Find("tools"); tools != nullptr) {
      if (!tools->is_array()) return fields_.FailType("tools", *tools, "a list of tools");
      Json list = Json::array();
      for (size_t i = 0; i < tools->size() && !fields_.error(); ++i) {
        list.push_back(Tool((*tools)[i], fmt::format("tools[{}]", i)));
      }
      chat()["tools"] = std::move(list);
      echo()["tools"] = *tools;
    }
    const Json* choice = fields_.Find("tool_choice");
    if (choice == nullptr) return;
    echo()["tool_choice"] = *choice;
    chat()["tool_choice"] = choice->is_object() ? ChoiceOf(*choice) : *choice;
  }

  Json Tool(const Json& tool, const std::string& param) {
    Json function = Json::object();
    Inside(tool, param, [&](FieldReader& reader) {
      const std::string type = reader.Text("type", 1, 128).value_or("");
      if (type != "function") {
        return reader.Fail("unsupported_parameter", "type",
                           fmt::format("the tool \"{}\" would run on the server; only function is taken", type));
      }
      for (const char* key : {"name", "description", "parameters", "strict"}) PassField(reader, key, function, key);
      if (!function.contains("name")) reader.Fail("missing_required_parameter", "name", "'name' is missing");
    });
    return {{"type", "function"}, {"function", std::move(function)}};
  }

  // {"type": "function", "name": N} and lists of such, as chats write them.
  static Json ChoiceOf(const Json& choice) {
    const auto function = [](const Json& named) {
      return Json{{"type", "function"}, {"function", {{"name", named.value("name", Json())}}}};
    };
    const Json type = choice.value("type", Json());
    if (type == "function") return function(choice);
    if (type != "allowed_tools" || !choice.contains("tools") || !choice["tools"].is_array()) return choice;
    Json tools = Json::array();
    for (const Json& tool : choice["tools"]) tools.push_back(tool.is_object() ? function(tool) : tool);
    return {{"type", "allowed_tools"},
            {"allowed_tools", {{"mode", choice.value("mode", Json("auto"))}, {"tools", std::move(tools)}}}};
  }

  void ReadTruncation() {
    const std::string truncation = fields_.Text("truncation", 1, 64).value_or("disabled");
    if (truncation == "auto") {
      chat()["truncate_prompt_tokens"] = -1;
    } else if (truncation != "disabled") {
      fields_.Fail("invalid_value", "truncation", "'truncation' is neither auto nor disabled");
    }
    echo()["truncation"] = truncation;
  }

  void ReadStreamOptions() {
    const Json* options = fields_.Find("stream_options");
    if (options == nullptr) return;
    // That there is no obfuscation is not noticed.
    Inside(*options, "stream_options", [](FieldReader& reader) { (void)reader.Flag("include_obfuscation"); });
  }

  void ReadConversation() {
    const std::optional<std::string> previous = fields_.Text("previous_response_id", 1, kMaxLabelBytes);
    if (previous) {
      SharedJson found = find_(*previous);
      if (found == nullptr) {
        return fields_.Fail("previous_response_not_found", "previous_response_id",
                            fmt::format("there is no stored response '{}'", *previous));
      }
      request_.context = std::move(found);
      echo()["previous_response_id"] = *previous;
    }
    // Only to count what is there needs no more.
    if (use_ == ResponsesUse::kCount && previous && fields_.Find("input") == nullptr) return;
    *request_.input = ReadInputItems(fields_, *request_.context, id_);
  }

  FieldReader fields_;
  const ResponsesUse use_;
  const std::string& id_;
  const FindConversation& find_;
  ResponsesRequest request_;
};

}  // namespace

std::variant<ResponsesRequest, ApiError> ReadResponsesRequest(const Json& body, ResponsesUse use, const std::string& id,
                                                              const FindConversation& find) {
  return ResponsesReader(body, use, id, find).Read();
}

void RenameForResponses(ApiError& error) {
  constexpr FieldName kNames[] = {{"max_tokens", "max_output_tokens"},
                                  {"messages", "input"},
                                  {"reasoning_effort", "reasoning.effort"},
                                  {"response_format", "text.format"}};
  RenameFields(kNames, error);
}

}  // namespace adit::server
