#ifndef ADIT_SERVER_CHAT_BODY_H_
#define ADIT_SERVER_CHAT_BODY_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/api_error.h"
#include "server/json_fields.h"

// Requests of other interfaces are turned into bodies of /v1/chat/completions, the one form that is read further.
namespace adit::server {

// JSON that a struct holds.
using SharedJson = std::shared_ptr<nlohmann::json>;

struct ChatBody {
  SharedJson body;                   // as ReadRequest takes it for chats; never null
  std::vector<std::string> ignored;  // fields of the original that have no effect
};

// Copies the fields that mean the same in every interface: those of sampling beyond the usual ones, of scheduling and
// of the template.
void PassFields(FieldReader& from, nlohmann::json& to);
// Copies one field if it is there.
void PassField(FieldReader& from, const char* key, nlohmann::json& to, const char* as);

// {"type": "text", "text": text}
nlohmann::json TextPart(const std::string& text);

// The body as a text in which the schemas of tools and answers have their members in the order of `original`, the text
// that came.
// Of a request of Anthropic's messages.
std::string OrderedMessagesText(const ChatBody& chat, std::string_view original);
// Of a request for a response.
std::string OrderedResponsesText(const ChatBody& chat, std::string_view original);

// A field by its name in the chat's body and in the original.
struct FieldName {
  std::string_view chat;
  std::string_view own;
};
// Has an error speak of the original's fields.
void RenameFields(std::span<const FieldName> names, ApiError& error);

}  // namespace adit::server

#endif  // ADIT_SERVER_CHAT_BODY_H_
