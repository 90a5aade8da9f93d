#include "server/api_error.h"

#include <nlohmann/json.hpp>

namespace adit::server {
namespace {

nlohmann::ordered_json TextOrNull(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace

nlohmann::ordered_json ErrorBody(const ApiError& error) {
  return {{"error",
           {{"message", error.message},
            {"type", error.type},
            {"param", TextOrNull(error.param)},
            {"code", TextOrNull(error.code)}}}};
}

std::string ErrorText(const ApiError& error) {
  return ErrorBody(error).dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

ApiError ErrorOfEngine(const Status& status) {
  ApiError error{.message = status.message()};
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      error.code = "invalid_value";
      break;
    case StatusCode::kUnsupported:
      error.code = "unsupported_parameter";
      break;
    case StatusCode::kResourceExhausted:
      error.status = 429;
      error.type = "rate_limit_error";
      error.code = "queue_full";
      error.retry_after_s = 1;
      break;
    case StatusCode::kDeadlineExceeded:
      error.status = 408;
      error.type = "timeout_error";
      error.code = "deadline_exceeded";
      break;
    case StatusCode::kFailedPrecondition:
    case StatusCode::kCancelled:
      error.status = 503;
      error.type = "service_unavailable_error";
      error.code = "draining";
      error.retry_after_s = 1;
      break;
    case StatusCode::kOk:
    case StatusCode::kNotFound:
    case StatusCode::kCorrupt:
    case StatusCode::kIo:
    case StatusCode::kInternal:
      error.status = 500;
      error.type = "server_error";
      error.code = "internal_error";
      break;
  }
  return error;
}

ApiError ErrorOfRun(const Status& status) {
  if (status.code() != StatusCode::kFailedPrecondition) return ErrorOfEngine(status);
  return ErrorOfEngine(Status(StatusCode::kInternal, status.message()));
}

}  // namespace adit::server
