#ifndef ADIT_SERVER_RESPONSES_WRITER_H_
#define ADIT_SERVER_RESPONSES_WRITER_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "server/answer_writer.h"
#include "server/chat_body.h"

namespace adit::server {

// What a response tells beside its answer.
struct ResponseFrame {
  std::string id;   // "resp_" and this is the response's; ids of its items end with it
  SharedJson echo;  // fields of the request that it repeats; not null
  bool store = false;
  // Keeps the response as it has come out. False when that was not possible.
  std::function<bool(const nlohmann::ordered_json& response)> keep;
};

// OpenAI's response object, and the events of its streams.
std::unique_ptr<AnswerWriter> MakeResponsesWriter(ApiAnswer& answer, const AnswerHead& head, ResponseFrame frame);

}  // namespace adit::server

#endif  // ADIT_SERVER_RESPONSES_WRITER_H_
