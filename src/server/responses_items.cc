#include "server/responses_items.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "server/chat_body.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxIdBytes = 256;

bool IsTextPart(const Json& type) {
  return type == "input_text" || type == "output_text" || type == "text" || type == "refusal" ||
         type == "reasoning_text" || type == "summary_text";
}

class ItemReader {
 public:
  ItemReader(FieldReader& fields, const Json& earlier, const std::string& suffix)
      : fields_(fields), earlier_(earlier), suffix_(suffix) {}

  Json Read() {
    const Json* input = fields_.Find("input");
    if (input == nullptr) {
      fields_.Fail("missing_required_parameter", "input", "'input' is missing");
    } else if (input->is_string()) {
      Add({{"type", "message"}, {"role", "user"}, {"content", *input}}, "input");
    } else if (!input->is_array()) {
      fields_.FailType("input", *input, "a string or a list of items");
    } else if (input->empty()) {
      fields_.Fail("invalid_value", "input", "'input' is empty; at least one item is wanted");
    } else {
      for (size_t i = 0; i < input->size() && !fields_.error(); ++i) Add((*input)[i], fmt::format("input[{}]", i));
    }
    return std::move(items_);
  }

 private:
  void Add(Json item, const std::string& param) {
    if (!item.is_object()) return fields_.FailType(param, item, "an object");
    const Json type = item.value("type", Json("message"));
    const char* prefix = "msg";
    if (type == "message") {
      Message(item, param);
    } else if (type == "function_call") {
      prefix = "fc";
      for (const char* key : {"call_id", "name", "arguments"}) (void)Holds(item, key, param);
    } else if (type == "function_call_output") {
      prefix = "fco";
      if (Holds(item, "call_id", param)) Texts(item, "output", param);
    } else if (type == "reasoning") {
      prefix = "rs";
      if (item.contains("content") && !item["content"].is_null()) Texts(item, "content", param);
    } else if (type == "item_reference") {
      return Reference(item, param);
    } else {
      return fields_.Fail(type.is_string() ? "unsupported_parameter" : "invalid_value", param + ".type",
                          fmt::format("'{}.type' is {}; message, function_call, function_call_output, reasoning and "
                                      "item_reference are taken",
                                      param, type.dump()));
    }
    item["type"] = type;
    const Json id = item.value("id", Json());
    if (!id.is_null() && (!id.is_string() || id.get_ref<const std::string&>().size() > kMaxIdBytes)) {
      return fields_.FailType(param + ".id", id, "a short string");
    }
    if (id.is_null()) item["id"] = fmt::format("{}_{}_{}", prefix, suffix_, items_.size());
    items_.push_back(std::move(item));
  }

  void Message(Json& item, const std::string& param) {
    const Json role = item.value("role", Json());
    if (role != "user" && role != "assistant" && role != "system" && role != "developer") {
      return fields_.Fail(role.is_null() ? "missing_required_parameter" : "invalid_value", param + ".role",
                          fmt::format("'{}.role' is {}; it is user, assistant, system or developer", param,
                                      role.is_null() ? "absent" : role.dump()));
    }
    Texts(item, "content", param);
    if (!item["content"].is_string()) return;
    const char* type = role == "assistant" ? "output_text" : "input_text";
    item["content"] = Json::array({{{"type", type}, {"text", item["content"]}}});
  }

  // A member that is a string or a list of parts with text.
  void Texts(const Json& item, const char* key, const std::string& param) {
    const std::string field = fmt::format("{}.{}", param, key);
    const auto found = item.find(key);
    if (found == item.end() || found->is_null()) {
      return fields_.Fail("missing_required_parameter", field, fmt::format("'{}' is missing", field));
    }
    if (found->is_string()) return;
    if (!found->is_array()) return fields_.FailType(field, *found, "a string or a list of parts");
    for (size_t i = 0; i < found->size() && !fields_.error(); ++i) {
      const Json& part = (*found)[i];
      const std::string element = fmt::format("{}[{}]", field, i);
      if (!part.is_object()) return fields_.FailType(element, part, "an object");
      const Json type = part.value("type", Json());
      if (!IsTextPart(type)) {
        return fields_.Fail(type.is_string() ? "unsupported_parameter" : "invalid_value", element + ".type",
                            fmt::format("'{}.type' is {}; only text is taken", element, type.dump()));
      }
      (void)Holds(part, type == "refusal" ? "refusal" : "text", element);
    }
  }

  void Reference(const Json& item, const std::string& param) {
    if (!Holds(item, "id", param)) return;
    const auto is_it = [&item](const Json& one) { return one.value("id", Json()) == item["id"]; };
    // An item of the response before is part of the conversation already.
    if (std::any_of(earlier_.begin(), earlier_.end(), is_it)) return;
    const auto found = std::find_if(items_.begin(), items_.end(), is_it);
    if (found != items_.end()) return;
    fields_.Fail("invalid_value", param + ".id", fmt::format("there is no item {} here", item["id"].dump()));
  }

  bool Holds(const Json& item, const char* key, const std::string& param) {
    const std::string field = fmt::format("{}.{}", param, key);
    const auto found = item.find(key);
    if (found == item.end() || found->is_null()) {
      fields_.Fail("missing_required_parameter", field, fmt::format("'{}' is missing", field));
    } else if (!found->is_string()) {
      fields_.FailType(field, *found, "a string");
    }
    return !fields_.error();
  }

  FieldReader& fields_;
  const Json& earlier_;
  const std::string& suffix_;
  Json items_ = Json::array();
};

// The text parts of a member, as a chat has them.
Json PartsOf(const Json& item, const char* key) {
  Json parts = Json::array();
  const auto found = item.find(key);
  if (found == item.end() || found->is_null()) return parts;
  if (found->is_string()) {
    parts.push_back(TextPart(found->get<std::string>()));
    return parts;
  }
  for (const Json& part : *found) parts.push_back(TextPart(part["type"] == "refusal" ? part["refusal"] : part["text"]));
  return parts;
}

std::string TextOfParts(const Json& parts) {
  std::string text;
  for (const Json& part : parts) text += part["text"].get_ref<const std::string&>();
  return text;
}

}  // namespace

Json ReadInputItems(FieldReader& fields, const Json& earlier, const std::string& suffix) {
  return ItemReader(fields, earlier, suffix).Read();
}

Json ChatOfItems(const Json& items) {
  Json chat = Json::array();
  std::string thoughts;
  // The assistant's message that a call is part of.
  const auto assistant = [&]() -> Json& {
    if (chat.empty() || chat.back()["role"] != "assistant" || !thoughts.empty()) {
      chat.push_back({{"role", "assistant"}, {"content", Json::array()}});
    }
    if (!thoughts.empty()) chat.back()["reasoning_content"] = std::exchange(thoughts, {});
    return chat.back();
  };
  for (const Json& item : items) {
    const Json& type = item["type"];
    if (type == "reasoning") {
      thoughts += TextOfParts(PartsOf(item, "content"));
    } else if (type == "function_call") {
      assistant()["tool_calls"].push_back({{"id", item["call_id"]},
                                           {"type", "function"},
                                           {"function", {{"name", item["name"]}, {"arguments", item["arguments"]}}}});
    } else if (type == "function_call_output") {
      Json parts = PartsOf(item, "output");
      if (parts.empty()) parts.push_back(TextPart(""));
      chat.push_back({{"role", "tool"}, {"tool_call_id", item["call_id"]}, {"content", std::move(parts)}});
    } else {
      chat.push_back({{"role", item["role"]}, {"content", PartsOf(item, "content")}});
      if (item["role"] == "assistant" && !thoughts.empty()) {
        chat.back()["reasoning_content"] = std::exchange(thoughts, {});
      }
    }
  }
  return chat;
}

}  // namespace adit::server
