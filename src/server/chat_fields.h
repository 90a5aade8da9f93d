#ifndef ADIT_SERVER_CHAT_FIELDS_H_
#define ADIT_SERVER_CHAT_FIELDS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "server/api_request.h"
#include "server/constraint_fields.h"
#include "server/json_fields.h"
#include "server/tool_grammar.h"

namespace adit::server {

// What a chat request's template is given, beside the messages.
struct ChatWish {
  std::vector<ChatMessage> messages;
  ChatPromptOptions prompt;
  std::vector<CallableTool> tools;         // that may be called
  bool must_call = false;                  // the answer is calls and nothing else
  bool restricts_tools = false;            // of those that the prompt tells of
  std::optional<int64_t> thinking_tokens;  // at most, of thoughts
};

// Reads messages, tools and what else the template sees; `output` is told how the answer is to be taken apart. What is
// wrong is left in `fields`.
ChatWish ReadChatWish(FieldReader& fields, const OrderedBody& body, const ApiModel& model, OutputWish& output);

// The same, and the prompt that comes of it; the constraint, where calls are held to one.
void ReadChat(FieldReader& fields, const OrderedBody& body, const ApiModel& model, ApiRequest& out);

// How many tokens the prompt of a chat's body has. `text`: the body as it came; empty: the order of members does not
// matter.
std::variant<int64_t, ApiError> CountPrompt(const nlohmann::json& body, const ApiModel& model,
                                            std::string_view text = {});

}  // namespace adit::server

#endif  // ADIT_SERVER_CHAT_FIELDS_H_
