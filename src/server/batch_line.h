#ifndef ADIT_SERVER_BATCH_LINE_H_
#define ADIT_SERVER_BATCH_LINE_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "adit/status.h"
#include "server/api_request.h"
#include "server/json_fields.h"

// The lines of OpenAI's batch format.
namespace adit::server {

// {"custom_id", "method", "url", "body"}
struct BatchRequestLine {
  BatchRequestLine();
  BatchRequestLine(BatchRequestLine&&) noexcept;
  ~BatchRequestLine();

  std::string custom_id;
  ApiKind kind = ApiKind::kChat;
  std::unique_ptr<nlohmann::json> body;  // an object
  std::string body_text;                 // it, with its members in the line's order
};

// A line that holds no request.
struct BatchLineError {
  std::optional<std::string> custom_id;
  ApiError error;
};

std::variant<BatchRequestLine, BatchLineError> ParseBatchLine(std::string_view line);

// The custom_id of a line, if it has one.
std::optional<std::string> CustomIdOf(std::string_view line);

// What identifies the request that a line of results answers: its custom_id, or the number of a line without one.
// Corrupt, without a place, when the line is no result.
Result<std::variant<std::string, int64_t>> AnsweredBy(std::string_view line);

// What each line of results begins with.
inline constexpr std::string_view kBatchResultStart = R"({"id":"batch_req_)";

// Lines of results, with their line end. `id`: hexadecimal digits.
std::string BatchResultLine(const std::string& id, const std::string& custom_id, int status,
                            const nlohmann::ordered_json& body);
std::string BatchErrorLine(const std::string& id, const BatchLineError& error, int64_t line_number);

}  // namespace adit::server

#endif  // ADIT_SERVER_BATCH_LINE_H_
