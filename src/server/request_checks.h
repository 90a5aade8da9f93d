#ifndef ADIT_SERVER_REQUEST_CHECKS_H_
#define ADIT_SERVER_REQUEST_CHECKS_H_

#include <optional>
#include <string>
#include <vector>

#include "server/api_error.h"
#include "server/http_message.h"
#include "server/routes.h"

namespace adit::server {

class Service;
class ServedModel;

// What stands against a request whose body is right in itself: it names a model that is not served here, or it has
// fields that nobody knows (`ignored`) where these are errors.
std::optional<ApiError> CheckAsked(const Call& call, const std::string& model, const std::vector<std::string>& ignored);
std::optional<ApiError> CheckAsked(Service& service, const ServedModel& served, const std::string& model,
                                   const std::vector<std::string>& ignored);

// Tells in a response which fields were passed over.
void AddIgnored(const std::vector<std::string>& ignored, HttpHead& head);

}  // namespace adit::server

#endif  // ADIT_SERVER_REQUEST_CHECKS_H_
