#ifndef ADIT_SERVER_CHAT_MESSAGES_H_
#define ADIT_SERVER_CHAT_MESSAGES_H_

#include <vector>

#include "server/chat_prompt.h"
#include "server/json_fields.h"

namespace adit::server {

// The messages of a chat request: role "system", "developer" (a system message to templates), "user", "assistant",
// "tool" or "function" (a tool message); content a string, or a list of text parts, which line ends join. An
// assistant's message may have tool calls in place of content, and the thoughts before it. What is wrong is left in
// `reader`.
std::vector<ChatMessage> ReadMessages(FieldReader& reader);

}  // namespace adit::server

#endif  // ADIT_SERVER_CHAT_MESSAGES_H_
