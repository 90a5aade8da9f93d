// Anthropic's /v1/messages and /v1/messages/count_tokens.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "server/chat_fields.h"
#include "server/generation_reply.h"
#include "server/guarded_body.h"
#include "server/messages_request.h"
#include "server/messages_writer.h"
#include "server/request_body.h"
#include "server/request_checks.h"
#include "server/service.h"

namespace adit::server {
namespace {

// Versions are days. What this server reads and writes is the same in all of them, so that it takes those to come, too.
std::optional<ApiError> CheckVersion(const HttpRequest& request) {
  const std::string_view version = request.Header("anthropic-version");
  constexpr std::string_view kShape = "0000-00-00";
  constexpr std::string_view kFirst = "2023-01-01";
  const bool is_day = version.size() == kShape.size() &&
                      std::equal(version.begin(), version.end(), kShape.begin(), [](char got, char wanted) {
                        return wanted == '-' ? got == '-' : got >= '0' && got <= '9';
                      });
  if (version.empty() || (is_day && version >= kFirst)) return std::nullopt;
  return ApiError{.code = "invalid_value",
                  .message = fmt::format("anthropic-version: \"{}\" is no day from {} on", version, kFirst),
                  .param = "anthropic-version"};
}

std::variant<ChatBody, ApiError> ReadChatBody(Call& call, MessagesUse use) {
  if (auto error = CheckVersion(call.request); error) return *std::move(error);
  std::variant<nlohmann::json, ApiError> body =
      use == MessagesUse::kCount ? ReadBody(call.request) : ReadGuardedBody(call);
  if (auto* error = std::get_if<ApiError>(&body)) return std::move(*error);
  return ChatOfMessages(std::get<nlohmann::json>(body), use);
}

}  // namespace

std::unique_ptr<Reply> Messages(Call& call) {
  std::variant<ChatBody, ApiError> read = ReadChatBody(call, MessagesUse::kAnswer);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  ChatBody& chat = std::get<ChatBody>(read);
  const std::string text = OrderedMessagesText(chat, call.request.body);
  return Generate(call, *chat.body,
                  {.kind = ApiKind::kChat,
                   .make_writer = &MakeMessagesWriter,
                   .rename = &RenameForMessages,
                   .ignored = std::move(chat.ignored),
                   .text = text});
}

std::unique_ptr<Reply> CountMessageTokens(Call& call) {
  std::variant<ChatBody, ApiError> read = ReadChatBody(call, MessagesUse::kCount);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  const ChatBody& chat = std::get<ChatBody>(read);
  const ApiModel& model = call.model->api();
  const std::string name = chat.body->value("model", model.name);
  if (const auto error = CheckAsked(call, name, chat.ignored); error) return ErrorReply(*error, *call.record);
  std::variant<int64_t, ApiError> count = CountPrompt(*chat.body, model, OrderedMessagesText(chat, call.request.body));
  if (auto* error = std::get_if<ApiError>(&count)) {
    RenameForMessages(*error);
    return ErrorReply(*error, *call.record);
  }
  return JsonReply(fmt::format(R"({{"input_tokens":{}}})", std::get<int64_t>(count)));
}

}  // namespace adit::server
