#ifndef ADIT_SERVER_OLLAMA_WRITER_H_
#define ADIT_SERVER_OLLAMA_WRITER_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "server/answer_writer.h"

namespace adit::server {

// Writes answers as Ollama's /api/chat and /api/generate do: an object, or one on each line of a stream.
std::unique_ptr<AnswerWriter> MakeOllamaChatWriter(ApiAnswer& answer, const AnswerHead& head);
std::unique_ptr<AnswerWriter> MakeOllamaGenerateWriter(ApiAnswer& answer, const AnswerHead& head);

// {"error": message}
std::string OllamaErrorText(const ApiError& error);
// A moment as Ollama writes it: "2025-01-31T12:00:00.000000Z".
std::string OllamaTime(double seconds_since_epoch);
// The time it is.
std::string OllamaNow();
// A line of a stream.
void WriteLine(const nlohmann::ordered_json& line, std::string& out);

}  // namespace adit::server

#endif  // ADIT_SERVER_OLLAMA_WRITER_H_
