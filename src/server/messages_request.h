#ifndef ADIT_SERVER_MESSAGES_REQUEST_H_
#define ADIT_SERVER_MESSAGES_REQUEST_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <variant>

#include "server/api_error.h"
#include "server/chat_body.h"

namespace adit::server {

enum class MessagesUse : uint8_t {
  kAnswer,  // /v1/messages
  kCount,   // /v1/messages/count_tokens, which needs no max_tokens
};

// Anthropic's request, a JSON object, as one of chats. Blocks of kinds other than text, thinking, tool_use and
// tool_result are errors that name them, as are tools that the server would have to run.
std::variant<ChatBody, ApiError> ChatOfMessages(const nlohmann::json& body, MessagesUse use);

// Has an error about that chat speak of the fields of Anthropic's request.
void RenameForMessages(ApiError& error);

}  // namespace adit::server

#endif  // ADIT_SERVER_MESSAGES_REQUEST_H_
