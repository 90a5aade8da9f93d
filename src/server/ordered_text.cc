// OrderedMessagesText and OrderedResponsesText.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/chat_body.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

const OrderedJson* Find(const OrderedJson& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// Puts the original in place of a value that is the same but for the order of its members.
void Restore(const OrderedJson* original, OrderedJson& value) {
  if (original != nullptr && nlohmann::json(*original) == nlohmann::json(value)) value = *original;
}

// The schemas of tools, which the original has under `key`.
void RestoreTools(const OrderedJson& original, const char* key, OrderedJson& chat) {
  const OrderedJson* before = Find(original, "tools");
  if (before == nullptr || !before->is_array() || !chat.contains("tools")) return;
  OrderedJson& tools = chat["tools"];
  for (size_t i = 0; i < tools.size() && i < before->size(); ++i) {
    OrderedJson& function = tools[i]["function"];
    if (function.contains("parameters")) Restore(Find((*before)[i], key), function["parameters"]);
  }
}

void RestoreFormat(const OrderedJson* format, OrderedJson& chat) {
  const OrderedJson* schema = format == nullptr ? nullptr : Find(*format, "schema");
  if (schema == nullptr || !chat.contains("response_format")) return;
  OrderedJson& named = chat["response_format"]["json_schema"];
  if (named.is_object() && named.contains("schema")) Restore(schema, named["schema"]);
}

// Both as JSON that keeps its order; the original is null where it is of no use.
struct Pair {
  OrderedJson chat;
  OrderedJson original;
};
Pair Read(const ChatBody& chat, std::string_view original) {
  return {.chat = OrderedJson(*chat.body),
          .original = OrderedJson::parse(original, nullptr, /*allow_exceptions=*/false)};
}

std::string Dump(const OrderedJson& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
}

}  // namespace

std::string OrderedMessagesText(const ChatBody& chat, std::string_view original) {
  Pair pair = Read(chat, original);
  if (!pair.original.is_object()) return Dump(pair.chat);
  RestoreTools(pair.original, "input_schema", pair.chat);
  RestoreFormat(Find(pair.original, "output_format"), pair.chat);
  const OrderedJson* config = Find(pair.original, "output_config");
  if (config != nullptr) RestoreFormat(Find(*config, "format"), pair.chat);
  return Dump(pair.chat);
}

std::string OrderedResponsesText(const ChatBody& chat, std::string_view original) {
  Pair pair = Read(chat, original);
  if (!pair.original.is_object()) return Dump(pair.chat);
  RestoreTools(pair.original, "parameters", pair.chat);
  const OrderedJson* text = Find(pair.original, "text");
  if (text != nullptr) RestoreFormat(Find(*text, "format"), pair.chat);
  return Dump(pair.chat);
}

}  // namespace adit::server
