#include "server/chat_messages.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr const char* kRoles[] = {"system", "developer", "user", "assistant", "tool", "function"};
constexpr const char* kUnsupportedParts[] = {"image_url", "input_audio", "file"};

bool IsOneOf(std::string_view word, std::span<const char* const> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Null when the member is absent or null.
const Json* Member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

class MessageReader {
 public:
  MessageReader(FieldReader& reader, const Json& message, std::string param)
      : reader_(reader), message_(message), param_(std::move(param)) {}

  ChatMessage Read() {
    ChatMessage message;
    if (!message_.is_object()) {
      reader_.FailType(param_, message_, "an object");
      return message;
    }
    message.role = Role();
    if (const Json* audio = Member(message_, "audio"); audio != nullptr) {
      reader_.Fail("unsupported_parameter", Param("audio"), fmt::format("'{}' is not supported", Param("audio")));
    }
    message.tool_calls = ToolCalls();
    message.reasoning = Text("reasoning_content");
    if (message.reasoning.empty()) message.reasoning = Text("reasoning");
    message.name = Text("name");
    message.tool_call_id = Text("tool_call_id");
    message.content = Content(/*required=*/message.tool_calls.empty());
    return message;
  }

 private:
  std::string Param(std::string_view key) const { return fmt::format("{}.{}", param_, key); }

  std::string Role() {
    const Json* role = Member(message_, "role");
    if (role == nullptr) {
      reader_.Fail("missing_required_parameter", Param("role"), fmt::format("'{}' has no role", param_));
      return {};
    }
    if (!role->is_string()) {
      reader_.FailType(Param("role"), *role, "a string");
      return {};
    }
    const auto& name = role->get_ref<const std::string&>();
    if (!IsOneOf(name, kRoles)) {
      reader_.Fail("invalid_value", Param("role"),
                   fmt::format("'{}' is {}; it is system, developer, user, assistant, tool or function", Param("role"),
                               role->dump()));
    }
    return name == "developer" ? "system" : name == "function" ? "tool" : name;
  }

  std::vector<ToolCall> ToolCalls() {
    std::vector<ToolCall> calls;
    const Json* list = Member(message_, "tool_calls");
    if (list != nullptr && !list->is_array()) {
      reader_.FailType(Param("tool_calls"), *list, "a list of calls");
    } else if (list != nullptr) {
      for (size_t i = 0; i < list->size(); ++i) {
        const std::string param = fmt::format("{}[{}]", Param("tool_calls"), i);
        const Json& call = (*list)[i];
        if (!call.is_object()) {
          reader_.FailType(param, call, "an object");
          break;
        }
        const Json* function = Member(call, "function");
        calls.push_back(Function(function, param + ".function"));
        const Json* id = Member(call, "id");
        if (id != nullptr && !id->is_string()) reader_.FailType(param + ".id", *id, "a string");
        if (id != nullptr && id->is_string()) calls.back().id = id->get<std::string>();
      }
    }
    if (const Json* function = Member(message_, "function_call"); function != nullptr) {
      calls.push_back(Function(function, Param("function_call")));
    }
    return calls;
  }

  ToolCall Function(const Json* function, const std::string& param) {
    ToolCall call;
    if (function == nullptr || !function->is_object()) {
      if (function != nullptr) reader_.FailType(param, *function, "an object");
      reader_.Fail("missing_required_parameter", param, fmt::format("'{}' is missing", param));
      return call;
    }
    const Json* name = Member(*function, "name");
    if (name == nullptr || !name->is_string()) {
      reader_.Fail(name == nullptr ? "missing_required_parameter" : "invalid_type", param + ".name",
                   fmt::format("'{}.name' is missing or no string", param));
      return call;
    }
    call.name = name->get<std::string>();
    // OpenAI's clients send a text; others the object itself.
    const Json* arguments = Member(*function, "arguments");
    if (arguments != nullptr) {
      call.arguments = arguments->is_string() ? arguments->get<std::string>() : arguments->dump();
    }
    return call;
  }

  std::string Text(const char* key) {
    const Json* value = Member(message_, key);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    reader_.FailType(Param(key), *value, "a string");
    return {};
  }

  std::string Content(bool required) {
    const std::string param = Param("content");
    const Json* content = Member(message_, "content");
    if (content == nullptr && !required) return {};
    if (content == nullptr) {
      reader_.Fail("missing_required_parameter", param, fmt::format("'{}' has no content", param_));
      return {};
    }
    if (content->is_string()) return content->get<std::string>();
    if (!content->is_array()) {
      reader_.FailType(param, *content, "a string or a list of parts");
      return {};
    }
    std::string text;
    for (size_t i = 0; i < content->size(); ++i) {
      if (i > 0) text += '\n';
      text += Part((*content)[i], fmt::format("{}[{}]", param, i));
    }
    return text;
  }

  std::string Part(const Json& part, const std::string& param) {
    if (!part.is_object()) {
      reader_.FailType(param, part, "an object");
      return {};
    }
    const Json* type = Member(part, "type");
    const std::string name = type != nullptr && type->is_string() ? type->get<std::string>() : std::string();
    if (name != "text" && name != "refusal") {
      reader_.Fail(IsOneOf(name, kUnsupportedParts) ? "unsupported_parameter" : "invalid_value", param + ".type",
                   fmt::format("'{}.type' is {}; only text is taken", param,
                               type == nullptr ? std::string("absent") : type->dump()));
      return {};
    }
    const Json* text = Member(part, name.c_str());
    if (text == nullptr) {
      reader_.Fail("missing_required_parameter", fmt::format("{}.{}", param, name),
                   fmt::format("'{}' has no {}", param, name));
      return {};
    }
    if (text->is_string()) return text->get<std::string>();
    reader_.FailType(fmt::format("{}.{}", param, name), *text, "a string");
    return {};
  }

  FieldReader& reader_;
  const Json& message_;
  const std::string param_;
};

}  // namespace

std::vector<ChatMessage> ReadMessages(FieldReader& reader) {
  std::vector<ChatMessage> messages;
  const Json* list = reader.Find("messages");
  if (list == nullptr) {
    reader.Fail("missing_required_parameter", "messages", "'messages' is missing");
  } else if (!list->is_array()) {
    reader.FailType("messages", *list, "a list of messages");
  } else if (list->empty()) {
    reader.Fail("invalid_value", "messages", "'messages' is empty; at least one is wanted");
  } else {
    for (size_t i = 0; i < list->size() && !reader.error(); ++i) {
      messages.push_back(MessageReader(reader, (*list)[i], fmt::format("messages[{}]", i)).Read());
    }
  }
  return messages;
}

}  // namespace adit::server
