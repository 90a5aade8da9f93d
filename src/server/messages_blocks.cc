#include "server/messages_blocks.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "server/chat_body.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

class BlockReader {
 public:
  explicit BlockReader(FieldReader& fields) : fields_(fields) {}

  Json Read(bool& continues) {
    if (const Json* system = fields_.Find("system"); system != nullptr) {
      chat_.push_back({{"role", "system"}, {"content", TextParts(*system, "system")}});
    }
    const Json* messages = fields_.Find("messages");
    if (messages == nullptr) {
      fields_.Fail("missing_required_parameter", "messages", "'messages' is missing");
    } else if (!messages->is_array()) {
      fields_.FailType("messages", *messages, "a list of messages");
    } else if (messages->empty()) {
      fields_.Fail("invalid_value", "messages", "'messages' is empty; at least one is wanted");
    } else {
      for (size_t i = 0; i < messages->size() && !fields_.error(); ++i) {
        Message((*messages)[i], fmt::format("messages[{}]", i));
      }
    }
    if (fields_.error() || chat_.empty()) return Json::array();
    const Json& last = chat_.back();
    continues = last["role"] == "assistant" && !last.contains("tool_calls") && !last["content"].empty();
    return std::move(chat_);
  }

 private:
  void Message(const Json& message, const std::string& param) {
    if (!message.is_object()) return fields_.FailType(param, message, "an object");
    const Json role = message.value("role", Json());
    if (role != "user" && role != "assistant") {
      return fields_.Fail("invalid_value", param + ".role",
                          fmt::format("'{}.role' is {}; it is \"user\" or \"assistant\"", param, role.dump()));
    }
    const auto content = message.find("content");
    if (content == message.end() || content->is_null()) {
      return fields_.Fail("missing_required_parameter", param + ".content", fmt::format("'{}' has no content", param));
    }
    // The turn before, where it is of the same role.
    const bool goes_on = !chat_.empty() && chat_.back()["role"] == role;
    Json turn = goes_on ? std::move(chat_.back()) : Json{{"role", role}, {"content", Json::array()}};
    if (goes_on) chat_.erase(chat_.size() - 1);
    if (content->is_string()) {
      turn["content"].push_back(TextPart(content->get<std::string>()));
    } else if (!content->is_array()) {
      return fields_.FailType(param + ".content", *content, "a string or a list of blocks");
    } else {
      for (size_t i = 0; i < content->size() && !fields_.error(); ++i) {
        Block((*content)[i], fmt::format("{}.content[{}]", param, i), turn);
      }
    }
    if (!turn["content"].empty() || turn.contains("tool_calls")) chat_.push_back(std::move(turn));
  }

  void Block(const Json& block, const std::string& param, Json& turn) {
    if (!block.is_object()) return fields_.FailType(param, block, "an object");
    const Json type = block.value("type", Json());
    const bool is_assistant = turn["role"] == "assistant";
    if (type == "text") {
      if (Holds(block, "text", param)) turn["content"].push_back(TextPart(block["text"]));
    } else if (type == "thinking" && is_assistant) {
      if (Holds(block, "thinking", param)) turn["reasoning_content"] = block["thinking"];
    } else if (type == "redacted_thinking" && is_assistant) {
      // Of another server, and not to be read here.
    } else if (type == "tool_use" && is_assistant) {
      ToolUse(block, param, turn);
    } else if (type == "tool_result" && !is_assistant) {
      ToolResult(block, param);
    } else {
      fields_.Fail(type.is_string() ? "unsupported_parameter" : "invalid_value", param + ".type",
                   fmt::format("'{}.type' is {}; {} are taken from {}", param, type.dump(),
                               is_assistant ? "text, thinking and tool_use" : "text and tool_result",
                               is_assistant ? "the assistant" : "the user"));
    }
  }

  void ToolUse(const Json& block, const std::string& param, Json& turn) {
    if (!Holds(block, "id", param) || !Holds(block, "name", param)) return;
    const Json input = block.value("input", Json::object());
    if (!input.is_object()) return fields_.FailType(param + ".input", input, "an object");
    turn["tool_calls"].push_back({{"id", block["id"]},
                                  {"type", "function"},
                                  {"function", {{"name", block["name"]}, {"arguments", input.dump()}}}});
  }

  void ToolResult(const Json& block, const std::string& param) {
    if (!Holds(block, "tool_use_id", param)) return;
    const auto content = block.find("content");
    const bool is_empty = content == block.end() || content->is_null();
    Json parts = is_empty ? Json::array() : TextParts(*content, param + ".content");
    if (parts.empty()) parts.push_back(TextPart(""));
    chat_.push_back({{"role", "tool"}, {"tool_call_id", block["tool_use_id"]}, {"content", std::move(parts)}});
  }

  // A string or a list of text blocks.
  Json TextParts(const Json& value, const std::string& param) {
    Json parts = Json::array();
    if (value.is_string()) {
      parts.push_back(TextPart(value.get<std::string>()));
    } else if (!value.is_array()) {
      fields_.FailType(param, value, "a string or a list of text blocks");
    } else {
      for (size_t i = 0; i < value.size() && !fields_.error(); ++i) {
        const std::string element = fmt::format("{}[{}]", param, i);
        if (!value[i].is_object() || value[i].value("type", Json()) != "text") {
          fields_.Fail("unsupported_parameter", element,
                       fmt::format("'{}' is no text block; only text is taken", element));
        } else if (Holds(value[i], "text", element)) {
          parts.push_back(TextPart(value[i]["text"]));
        }
      }
    }
    return parts;
  }

  bool Holds(const Json& block, const char* key, const std::string& param) {
    const auto found = block.find(key);
    const std::string field = fmt::format("{}.{}", param, key);
    if (found == block.end() || found->is_null()) {
      fields_.Fail("missing_required_parameter", field, fmt::format("'{}' is missing", field));
    } else if (!found->is_string()) {
      fields_.FailType(field, *found, "a string");
    }
    return !fields_.error();
  }

  FieldReader& fields_;
  Json chat_ = Json::array();
};

}  // namespace

Json ReadAnthropicMessages(FieldReader& fields, bool& continues) { return BlockReader(fields).Read(continues); }

}  // namespace adit::server
