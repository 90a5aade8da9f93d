#ifndef ADIT_SERVER_REQUEST_BODY_H_
#define ADIT_SERVER_REQUEST_BODY_H_

#include <nlohmann/json_fwd.hpp>
#include <variant>

#include "server/api_error.h"
#include "server/http_message.h"

namespace adit::server {

// The JSON object that a request brings: 415 for another type or encoding, 400 for what is no JSON object.
std::variant<nlohmann::json, ApiError> ReadBody(const HttpRequest& request);

}  // namespace adit::server

#endif  // ADIT_SERVER_REQUEST_BODY_H_
