#ifndef ADIT_SERVER_MESSAGES_BLOCKS_H_
#define ADIT_SERVER_MESSAGES_BLOCKS_H_

#include <nlohmann/json_fwd.hpp>

#include "server/json_fields.h"

namespace adit::server {

// The messages of a chat for Anthropic's `system` and `messages`. Turns of one role that follow each other become one;
// results of tools become messages of their own, before the rest of their turn. `continues`: the last one is the
// assistant's, and the answer goes on from it. What is wrong is left in `fields`.
nlohmann::json ReadAnthropicMessages(FieldReader& fields, bool& continues);

}  // namespace adit::server

#endif  // ADIT_SERVER_MESSAGES_BLOCKS_H_
