#ifndef ADIT_CLI_BATCH_MESSAGES_H_
#define ADIT_CLI_BATCH_MESSAGES_H_

#include <vector>

#include "cli/batch_fields.h"
#include "cli/chat_prompt.h"

namespace adit::cli {

// The messages of a chat request: role "system", "developer" (a system message to templates), "user", "assistant" or
// "tool"; content a string, or a list of text parts, which line ends join. What is wrong is left in `reader`.
std::vector<ChatMessage> ReadMessages(FieldReader& reader);

}  // namespace adit::cli

#endif  // ADIT_CLI_BATCH_MESSAGES_H_
