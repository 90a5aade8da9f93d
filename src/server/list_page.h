#ifndef ADIT_SERVER_LIST_PAGE_H_
#define ADIT_SERVER_LIST_PAGE_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <variant>

#include "server/api_error.h"

namespace adit::server {

// A page of a list of objects with ids, as the parameters of the query ask for it: `limit` of them (of `usual` where it
// does not say, at most `most`), behind the one with the id `after`, in the order given or, with order=asc, the other
// way round.
std::variant<nlohmann::ordered_json, ApiError> ListPage(nlohmann::ordered_json items, std::string_view query,
                                                        int64_t usual, int64_t most);

}  // namespace adit::server

#endif  // ADIT_SERVER_LIST_PAGE_H_
