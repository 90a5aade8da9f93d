#include "server/request_body.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/ascii.h"
#include "server/json_fields.h"

namespace adit::server {
namespace {

ApiError UnsupportedMedia(std::string message) {
  return {.status = 415, .code = "unsupported_media_type", .message = std::move(message)};
}

}  // namespace

std::variant<nlohmann::json, ApiError> ReadBody(const HttpRequest& request) {
  const std::string type = LowerCase(request.Header("content-type"));
  const std::string_view media = Trim(std::string_view(type).substr(0, type.find(';')));
  // Who sends none means JSON: there is nothing else.
  if (!media.empty() && media != "application/json") {
    return UnsupportedMedia(fmt::format("the content type is '{}'; application/json is wanted", media));
  }
  if (const std::string encoding = LowerCase(request.Header("content-encoding"));
      !encoding.empty() && encoding != "identity") {
    return UnsupportedMedia(fmt::format("the content encoding '{}' is not supported", encoding));
  }
  Result<nlohmann::json> json = ParseJson(request.body);
  if (!json.ok()) return ApiError{.code = "invalid_json", .message = json.status().message()};
  if (!json->is_object()) {
    return ApiError{.code = "invalid_type",
                    .message = fmt::format("the body is of type {}, wanted an object", json->type_name())};
  }
  return std::move(json).value();
}

}  // namespace adit::server
