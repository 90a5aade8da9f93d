#ifndef ADIT_SERVER_MESSAGES_WRITER_H_
#define ADIT_SERVER_MESSAGES_WRITER_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "server/answer_writer.h"

namespace adit::server {

// Anthropic's message object, and the events of its streams.
std::unique_ptr<AnswerWriter> MakeMessagesWriter(ApiAnswer& answer, const AnswerHead& head);

// {"type": "error", "error": {"type", "message"}, "request_id"}
nlohmann::ordered_json MessagesError(const ApiError& error, const std::string& request_id);

}  // namespace adit::server

#endif  // ADIT_SERVER_MESSAGES_WRITER_H_
