#ifndef ADIT_SERVER_RESPONSES_ITEMS_H_
#define ADIT_SERVER_RESPONSES_ITEMS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "server/json_fields.h"

namespace adit::server {

// The items of a request's `input`, a string or a list, each with an id that begins with what is right for its kind and
// ends with `suffix` and its number. References are replaced by the items of `earlier` that they name. What is wrong is
// left in `fields`.
nlohmann::json ReadInputItems(FieldReader& fields, const nlohmann::json& earlier, const std::string& suffix);

// The messages of a chat for items: calls and thoughts go with the assistant's message that they belong to.
nlohmann::json ChatOfItems(const nlohmann::json& items);

}  // namespace adit::server

#endif  // ADIT_SERVER_RESPONSES_ITEMS_H_
