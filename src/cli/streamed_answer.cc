#include "cli/streamed_answer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/printable.h"
#include "server/json_fields.h"

namespace adit::cli {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNameBytes = 64;

const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<int64_t> CountOf(const Json& object, const char* key) {
  const Json* value = Find(object, key);
  const std::optional<int64_t> count = value == nullptr ? std::nullopt : server::WholeNumber(*value);
  return count && *count >= 0 ? count : std::nullopt;
}

// Of an error object: its code, or else its type.
std::string NameOf(const Json& error) {
  for (const char* key : {"code", "type"}) {
    const Json* value = Find(error, key);
    if (value != nullptr && value->is_string()) return OneLine(value->get<std::string>(), kMaxNameBytes);
    if (value != nullptr && value->is_number_integer()) return value->dump();
  }
  return "";
}

// The text of one choice, and whether it tells of something at all.
bool ReadChoice(const Json& choice, std::string& text) {
  const Json* delta = Find(choice, "delta");
  if (delta == nullptr) {
    const Json* piece = Find(choice, "text");
    if (piece == nullptr || !piece->is_string()) return false;
    text = piece->get<std::string>();
    return !text.empty();
  }
  const auto has_text = [delta](const char* key) {
    const Json* piece = Find(*delta, key);
    return piece != nullptr && piece->is_string() && !piece->get_ref<const std::string&>().empty();
  };
  if (has_text("content")) text = (*delta)["content"].get<std::string>();
  const Json* calls = Find(*delta, "tool_calls");
  return !text.empty() || has_text("reasoning_content") || has_text("reasoning") ||
         (calls != nullptr && calls->is_array() && !calls->empty());
}

}  // namespace

size_t StreamedAnswer::Append(std::string_view bytes) {
  const size_t before = num_pieces_;
  if (error_.empty() && !events_.Append(bytes, [this](std::string_view data) { TakeEvent(data); })) {
    error_ = "malformed stream";
  }
  return num_pieces_ - before;
}

void StreamedAnswer::TakeEvent(std::string_view data) {
  if (!error_.empty() || done_) return;
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  const Result<Json> chunk = server::ParseJson(data);
  if (!chunk.ok() || !chunk->is_object()) {
    error_ = "malformed stream";
    return;
  }
  if (const Json* error = Find(*chunk, "error"); error != nullptr) {
    const std::string name = NameOf(*error);
    error_ = name.empty() ? "error in stream" : "error in stream: " + name;
    return;
  }
  if (const Json* usage = Find(*chunk, "usage"); usage != nullptr) {
    prompt_tokens_ = CountOf(*usage, "prompt_tokens");
    output_tokens_ = CountOf(*usage, "completion_tokens");
    if (const Json* details = Find(*usage, "prompt_tokens_details"); details != nullptr) {
      cached_tokens_ = CountOf(*details, "cached_tokens");
    }
  }
  const Json* choices = Find(*chunk, "choices");
  if (choices == nullptr || !choices->is_array()) return;
  for (const Json& choice : *choices) {
    std::string text;
    if (ReadChoice(choice, text)) ++num_pieces_;
    if (keeps_text_) text_ += text;
    finished_ = finished_ || Find(choice, "finish_reason") != nullptr;
  }
}

std::string ErrorName(int64_t status, std::string_view body) {
  const Result<Json> json = server::ParseJson(body);
  const Json* error = json.ok() ? Find(*json, "error") : nullptr;
  const std::string name = error == nullptr ? std::string() : NameOf(*error);
  return name.empty() || name == fmt::format("{}", status) ? fmt::format("{}", status)
                                                           : fmt::format("{} {}", status, name);
}

}  // namespace adit::cli
