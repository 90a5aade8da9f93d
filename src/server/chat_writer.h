#ifndef ADIT_SERVER_CHAT_WRITER_H_
#define ADIT_SERVER_CHAT_WRITER_H_

#include <memory>

#include "server/answer_writer.h"

namespace adit::server {

// OpenAI's chat.completion and text_completion objects, and their chunks.
std::unique_ptr<AnswerWriter> MakeChatWriter(ApiAnswer& answer, const AnswerHead& head);

}  // namespace adit::server

#endif  // ADIT_SERVER_CHAT_WRITER_H_
