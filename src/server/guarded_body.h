#ifndef ADIT_SERVER_GUARDED_BODY_H_
#define ADIT_SERVER_GUARDED_BODY_H_

#include <nlohmann/json_fwd.hpp>
#include <variant>

#include "server/api_error.h"
#include "server/routes.h"

namespace adit::server {

// The body of a request that generates, with what the rules of the deployment make of its texts, in the request as
// well: messages, prompts, tools. The verdicts go to the call's record. Prompts that come as token ids are judged by
// their text.
std::variant<nlohmann::json, ApiError> ReadGuardedBody(Call& call);

}  // namespace adit::server

#endif  // ADIT_SERVER_GUARDED_BODY_H_
