#include "server/messages_request.h"

#include <fmt/core.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "server/json_fields.h"
#include "server/messages_blocks.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLeastThinkingTokens = 1024;
// Thoughts of so many tokens are what models call little and medium effort.
constexpr int64_t kLowEffortTokens = 4096;
constexpr int64_t kMediumEffortTokens = 16384;

class MessagesReader {
 public:
  MessagesReader(const Json& body, MessagesUse use) : fields_(body), use_(use) {
    result_.body = std::make_shared<Json>(Json::object());
  }

  std::variant<ChatBody, ApiError> Read() {
    Json& chat = *result_.body;
    (void)fields_.Text("model", 0, SIZE_MAX);
    PassField(fields_, "model", chat, "model");
    PassFields(fields_, chat);
    PassField(fields_, "max_tokens", chat, "max_tokens");
    if (use_ == MessagesUse::kAnswer && !chat.contains("max_tokens")) {
      fields_.Fail("missing_required_parameter", "max_tokens", "'max_tokens' is missing");
    }
    if (chat.contains("max_tokens")) (void)fields_.Whole("max_tokens", 1, kMaxInt64);
    PassField(fields_, "temperature", chat, "temperature");
    (void)fields_.Real("temperature", {0, 1});
    PassField(fields_, "top_p", chat, "top_p");
    PassField(fields_, "stop_sequences", chat, "stop");
    PassField(fields_, "stream", chat, "stream");
    ReadMetadata();
    ReadThinking();
    ReadOutput();
    ReadTools();
    RefuseServerSide();
    if (!fields_.error()) chat["messages"] = ReadAnthropicMessages(fields_, continues_);
    if (continues_) {
      chat["continue_final_message"] = true;
      chat["add_generation_prompt"] = false;
    }
    if (fields_.error()) return *fields_.error();
    for (std::string& name : fields_.Unknown()) result_.ignored.push_back(std::move(name));
    return std::move(result_);
  }

 private:
  // Reads the fields of an object and tells of errors with its name in front.
  template <typename Take>
  void Inside(const Json& object, const std::string& name, Take take) {
    if (!object.is_object()) return fields_.FailType(name, object, "an object");
    FieldReader reader(object);
    take(reader);
    if (reader.error()) {
      const ApiError& error = *reader.error();
      return fields_.Fail(error.code, name + "." + error.param, fmt::format("in '{}': {}", name, error.message));
    }
    for (const std::string& unknown : reader.Unknown()) result_.ignored.push_back(name + "." + unknown);
  }

  void ReadMetadata() {
    const Json* metadata = fields_.Find("metadata");
    if (metadata == nullptr) return;
    Inside(*metadata, "metadata", [](FieldReader& reader) { (void)reader.Text("user_id", 0, 4096); });
    // A label without effect here.
    result_.ignored.emplace_back("metadata");
  }

  void ReadThinking() {
    Json& chat = *result_.body;
    bool enabled = false;
    std::string effort = "none";
    if (const Json* thinking = fields_.Find("thinking"); thinking != nullptr) {
      Inside(*thinking, "thinking", [&](FieldReader& reader) {
        const std::string type = reader.Text("type", 1, 64).value_or("");
        enabled = type == "enabled" || type == "adaptive";
        if (!enabled && type != "disabled") {
          return reader.Fail("invalid_value", "type", "'type' is none of enabled, adaptive and disabled");
        }
        (void)reader.Text("display", 1, 64);
        const std::optional<int64_t> budget = reader.Whole("budget_tokens", kLeastThinkingTokens, kMaxInt64);
        if (type == "enabled" && !budget) {
          return reader.Fail("missing_required_parameter", "budget_tokens", "'budget_tokens' is missing");
        }
        effort = !budget || (*budget >= kLowEffortTokens && *budget < kMediumEffortTokens) ? "medium"
                 : *budget < kLowEffortTokens                                              ? "low"
                                                                                           : "high";
        const auto most = chat.find("max_tokens");
        if (budget && most != chat.end() && WholeNumber(*most).value_or(kMaxInt64) <= *budget) {
          return reader.Fail("invalid_value", "budget_tokens", "'budget_tokens' is not below 'max_tokens'");
        }
        if (budget) chat["thinking_token_budget"] = *budget;
      });
    }
    chat["include_reasoning"] = enabled;
    if (enabled) {
      chat["reasoning_effort"] = effort;
    } else if (!chat.contains("chat_template_kwargs")) {
      chat["reasoning_effort"] = "none";
    }
  }

  void ReadOutput() {
    if (const Json* config = fields_.Find("output_config"); config != nullptr) {
      Inside(*config, "output_config", [this](FieldReader& reader) {
        PassField(reader, "effort", *result_.body, "reasoning_effort");
        if (const Json* format = reader.Find("format"); format != nullptr) TakeFormat(*format, reader, "format");
      });
    }
    const Json* format = fields_.Find("output_format");
    if (format != nullptr) TakeFormat(*format, fields_, "output_format");
  }

  void TakeFormat(const Json& format, FieldReader& reader, const char* name) {
    if (!format.is_object()) return reader.FailType(name, format, "an object");
    if (format.value("type", Json()) != "json_schema" || !format.contains("schema")) {
      return reader.Fail("invalid_value", name, fmt::format("'{}' is of the type json_schema, with a schema", name));
    }
    (*result_.body)["response_format"] = {
        {"type", "json_schema"}, {"json_schema", {{"name", "output"}, {"schema", format["schema"]}, {"strict", true}}}};
  }

  void ReadTools() {
    if (const Json* tools = fields_.Find("tools"); tools != nullptr) {
      if (!tools->is_array()) return fields_.FailType("tools", *tools, "a list of tools");
      Json list = Json::array();
      for (size_t i = 0; i < tools->size() && !fields_.error(); ++i) {
        list.push_back(Tool((*tools)[i], fmt::format("tools[{}]", i)));
      }
      (*result_.body)["tools"] = std::move(list);
    }
    const Json* choice = fields_.Find("tool_choice");
    if (choice == nullptr) return;
    Inside(*choice, "tool_choice", [this](FieldReader& reader) {
      const std::string type = reader.Text("type", 1, 64).value_or("");
      const std::string name = reader.Text("name", 1, 256).value_or("");
      const bool one = reader.Flag("disable_parallel_tool_use").value_or(false);
      Json& chat = *result_.body;
      if (type == "auto" || type == "none") {
        chat["tool_choice"] = type;
      } else if (type == "any") {
        chat["tool_choice"] = "required";
      } else if (type == "tool" && !name.empty()) {
        chat["tool_choice"] = {{"type", "function"}, {"function", {{"name", name}}}};
      } else if (type == "tool") {
        return reader.Fail("missing_required_parameter", "name", "'name' is missing");
      } else {
        return reader.Fail("invalid_tool_choice", "type", "'type' is none of auto, any, tool and none");
      }
      if (one) chat["parallel_tool_calls"] = false;
    });
  }

  Json Tool(const Json& tool, const std::string& param) {
    Json function = Json::object();
    Inside(tool, param, [&](FieldReader& reader) {
      const std::string type = reader.Text("type", 1, 128).value_or("custom");
      if (type != "custom") {
        return reader.Fail("unsupported_parameter", "type",
                           fmt::format("the tool \"{}\" would run on the server, which has none", type));
      }
      PassField(reader, "name", function, "name");
      PassField(reader, "description", function, "description");
      PassField(reader, "input_schema", function, "parameters");
      PassField(reader, "strict", function, "strict");
      (void)reader.Find("cache_control");
      if (!function.contains("parameters")) {
        reader.Fail("missing_required_parameter", "input_schema", "'input_schema' is missing");
      }
    });
    return {{"type", "function"}, {"function", std::move(function)}};
  }

  void RefuseServerSide() {
    for (const char* key : {"container", "mcp_servers", "context_management"}) {
      const Json* value = fields_.Find(key);
      if (value != nullptr && !value->empty()) {
        fields_.Fail("unsupported_parameter", key, fmt::format("'{}' is not supported", key));
      }
    }
    const std::string tier = fields_.Text("service_tier", 1, 64).value_or("auto");
    if (tier != "auto" && tier != "standard_only") {
      fields_.Fail("invalid_value", "service_tier", "'service_tier' is neither auto nor standard_only");
    }
  }

  FieldReader fields_;
  const MessagesUse use_;
  ChatBody result_;
  bool continues_ = false;  // the last message is the answer's beginning
};

}  // namespace

std::variant<ChatBody, ApiError> ChatOfMessages(const Json& body, MessagesUse use) {
  return MessagesReader(body, use).Read();
}

void RenameForMessages(ApiError& error) {
  constexpr FieldName kNames[] = {{"stop", "stop_sequences"},
                                  {"reasoning_effort", "thinking"},
                                  {"thinking_token_budget", "thinking.budget_tokens"},
                                  {"response_format", "output_format"}};
  if (error.param.starts_with("stop_token_ids")) return;
  RenameFields(kNames, error);
}

}  // namespace adit::server
