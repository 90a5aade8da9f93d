#ifndef ADIT_SERVER_API_ERROR_H_
#define ADIT_SERVER_API_ERROR_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "adit/status.h"

namespace adit::server {

// What is wrong with a request, as OpenAI's error object tells it.
struct ApiError {
  int status = 400;  // of HTTP
  std::string type = "invalid_request_error";
  std::string code;  // "invalid_value", ...
  std::string message;
  std::string param;          // the field at fault; empty: none
  double retry_after_s = -1;  // >= 0: when it is worth to ask again
};

// {"error": {"message", "type", "param", "code"}}
nlohmann::ordered_json ErrorBody(const ApiError& error);
// The same as text: UTF-8 whatever the message holds.
std::string ErrorText(const ApiError& error);

// The error that a request meets in the engine, as clients are told of it: the one table from status codes to HTTP.
ApiError ErrorOfEngine(const Status& status);
// The same for one that meets it while it runs: then what is not possible is the model's fault, not that of the time.
ApiError ErrorOfRun(const Status& status);

}  // namespace adit::server

#endif  // ADIT_SERVER_API_ERROR_H_
