// OrderedMessagesText and OrderedResponsesText.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/chat_body.h"

namespace adit::server {
namespace {

using Json = nlohmann::ordered_json;

const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// Puts the original in place of a value that is the same but for the order of its members.
void Restore(const Json* original, Json& value) {
  if (original != nullptr && nlohmann::json(*original) == nlohmann::json(value)) value = *original;
}

// The schemas of tools, which the original has under `key`.
void RestoreTools(const Json& original, const char* key, Json& chat) {
  const Json* before = Find(original, "tools");
  if (before == nullptr || !before->is_array() || !chat.contains("tools")) return;
  Json& tools = chat["tools"];
  for (size_t i = 0; i < tools.size() && i < before->size(); ++i) {
    Json& function = tools[i]["function"];
    if (function.contains("parameters")) Restore(Find((*before)[i], key), function["parameters"]);
  }
}

void RestoreFormat(const Json* format, Json& chat) {
  const Json* schema = format == nullptr ? nullptr : Find(*format, "schema");
  if (schema == nullptr || !chat.contains("response_format")) return;
  Json& named = chat["response_format"]["json_schema"];
  if (named.is_object() && named.contains("schema")) Restore(schema, named["schema"]);
}

// Both as JSON that keeps its order; the original is null where it is of no use.
struct Pair {
  Json chat;
  Json original;
};
Pair Read(const ChatBody& chat, std::string_view original) {
  return {.chat = Json(*chat.body), .original = Json::parse(original, nullptr, /*allow_exceptions=*/false)};
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace

std::string OrderedMessagesText(const ChatBody& chat, std::string_view original) {
  Pair pair = Read(chat, original);
  if (!pair.original.is_object()) return Dump(pair.chat);
  RestoreTools(pair.original, "input_schema", pair.chat);
  RestoreFormat(Find(pair.original, "output_format"), pair.chat);
  const Json* config = Find(pair.original, "output_config");
  if (config != nullptr) RestoreFormat(Find(*config, "format"), pair.chat);
  return Dump(pair.chat);
}

std::string OrderedResponsesText(const ChatBody& chat, std::string_view original) {
  Pair pair = Read(chat, original);
  if (!pair.original.is_object()) return Dump(pair.chat);
  RestoreTools(pair.original, "parameters", pair.chat);
  const Json* text = Find(pair.original, "text");
  if (text != nullptr) RestoreFormat(Find(*text, "format"), pair.chat);
  return Dump(pair.chat);
}

}  // namespace adit::server
