#ifndef ADIT_SERVER_RESPONSES_REQUEST_H_
#define ADIT_SERVER_RESPONSES_REQUEST_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

#include "server/api_error.h"
#include "server/chat_body.h"

namespace adit::server {

enum class ResponsesUse : uint8_t {
  kAnswer,  // /v1/responses
  kCount,   // /v1/responses/input_tokens
};

// A request of /v1/responses as one of chats, and what its response tells of it.
struct ResponsesRequest {
  ChatBody chat;
  // None is null.
  SharedJson echo;            // fields that the response repeats
  SharedJson context;         // items of the conversation so far
  SharedJson input;           // those that this request adds, with ids
  std::optional<bool> store;  // unset: as it is usual here
};

// Finds the items of the conversation that a stored response ends; null when there is none of that id.
using FindConversation = std::function<SharedJson(const std::string& id)>;

// `id`: of the response, for the ids of its items. Tools that the server would have to run, parts that are no text and
// fields that ask for what is not here are errors that name them.
std::variant<ResponsesRequest, ApiError> ReadResponsesRequest(const nlohmann::json& body, ResponsesUse use,
                                                              const std::string& id, const FindConversation& find);

// Has an error about that chat speak of the fields of the request.
void RenameForResponses(ApiError& error);

}  // namespace adit::server

#endif  // ADIT_SERVER_RESPONSES_REQUEST_H_
