#ifndef ADIT_SERVER_GUARDED_BODY_H_
#define ADIT_SERVER_GUARDED_BODY_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "guard/rules.h"
#include "server/api_error.h"
#include "server/api_request.h"
#include "server/routes.h"
#include "tokenizer/tokenizer.h"

namespace adit::server {

// The body of a request that asks a model, with what the rules of the deployment make of its texts, in the request as
// well: messages, prompts, tools, texts to be embedded or compared. The verdicts go to the call's record. Prompts that
// come as token ids are judged by their text.
std::variant<nlohmann::json, ApiError> ReadGuardedBody(Call& call);

// The same for a body that has been read. What blocks it, if a rule does; `changed`: whether one has changed it.
std::optional<ApiError> GuardBody(const guard::Rules& rules, const tokenizer::Tokenizer& tokenizer,
                                  nlohmann::ordered_json& body, std::vector<guard::Verdict>& verdicts, bool& changed);

// What would tell of a text that a rule takes out of an answer, if the request asks for it.
std::optional<ApiError> CheckGuarded(const ApiRequest& request, const guard::Rules& rules);

}  // namespace adit::server

#endif  // ADIT_SERVER_GUARDED_BODY_H_
