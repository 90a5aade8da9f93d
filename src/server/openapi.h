#ifndef ADIT_SERVER_OPENAPI_H_
#define ADIT_SERVER_OPENAPI_H_

#include <span>
#include <string>
#include <string_view>

#include "server/routes.h"

namespace adit::server {

// The description of the routes as an OpenAPI 3.1 document.
std::string OpenApiText(std::span<const Route> routes, std::string_view version);

}  // namespace adit::server

#endif  // ADIT_SERVER_OPENAPI_H_
