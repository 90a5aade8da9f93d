#ifndef ADIT_SERVER_ANSWER_WRITER_H_
#define ADIT_SERVER_ANSWER_WRITER_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "server/api_answer.h"
#include "server/api_error.h"

namespace adit::server {

// One interface's way to tell an answer, whole or as server-sent events. Each has a mapping of requests onto
// ApiRequest, and a writer for what becomes of them. One thread at a time.
class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;

  // The whole answer as JSON. Precondition: it is complete.
  virtual std::string Body() = 0;
  // Appends events for what has become certain since the last call.
  virtual void Write(std::string& out) = 0;
  // The last events of an answer that is complete, and of one that failed on the way.
  virtual void WriteEnd(std::string& out) = 0;
  virtual void WriteFailure(const ApiError& error, std::string& out) = 0;
  // Of a stream.
  virtual const char* stream_type() const { return "text/event-stream; charset=utf-8"; }
  // What fills silence.
  virtual const char* ping() const { return ": ping\n\n"; }
};

// Makes a writer for an answer, which outlives it.
using MakeAnswerWriter = std::function<std::unique_ptr<AnswerWriter>(ApiAnswer& answer, const AnswerHead& head)>;

// JSON as text: UTF-8 whatever its strings hold.
std::string JsonText(const nlohmann::ordered_json& json);
// An event of a stream that has names of events.
void WriteNamedEvent(const char* name, const nlohmann::ordered_json& data, std::string& out);

}  // namespace adit::server

#endif  // ADIT_SERVER_ANSWER_WRITER_H_
