#ifndef ADIT_SERVER_MODEL_CHOICE_H_
#define ADIT_SERVER_MODEL_CHOICE_H_

#include <memory>
#include <string>
#include <variant>

#include "server/api_error.h"
#include "server/routes.h"

namespace adit::server {

// The model that a body names; empty: it names none. The error of a body that is no JSON object.
std::variant<std::string, ApiError> ModelAsked(const HttpRequest& request);

// Answers a request of a route that needs a model with the one that its body names, once that is loaded. `call` has no
// model yet.
std::unique_ptr<Reply> AnswerWithModel(Call call, const Route& route);

}  // namespace adit::server

#endif  // ADIT_SERVER_MODEL_CHOICE_H_
