#include "server/list_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "server/http_message.h"

namespace adit::server {

std::variant<nlohmann::ordered_json, ApiError> ListPage(nlohmann::ordered_json items, std::string_view query,
                                                        int64_t usual, int64_t most) {
  using Json = nlohmann::ordered_json;
  const std::string limit_text = QueryParameter(query, "limit");
  const std::string order = QueryParameter(query, "order");
  const std::string after = QueryParameter(query, "after");
  const int64_t limit = limit_text.empty() ? usual : std::strtoll(limit_text.c_str(), nullptr, 10);
  const bool wrong_limit = limit < 1 || limit > most;
  if (wrong_limit || (!order.empty() && order != "asc" && order != "desc")) {
    return ApiError{.code = "invalid_value",
                    .message = fmt::format("'limit' is in 1..{}, and 'order' is asc or desc", most),
                    .param = wrong_limit ? "limit" : "order"};
  }
  if (order == "asc") std::reverse(items.begin(), items.end());
  auto begin = items.begin();
  if (!after.empty()) {
    begin = std::find_if(items.begin(), items.end(), [&](const Json& item) { return item["id"] == after; });
    if (begin != items.end()) ++begin;
  }
  Json data = Json::array();
  for (; begin != items.end() && static_cast<int64_t>(data.size()) < limit; ++begin) data.push_back(std::move(*begin));
  const Json first = data.empty() ? Json() : data.front()["id"];
  const Json last = data.empty() ? Json() : data.back()["id"];
  return Json{{"object", "list"},
              {"first_id", first},
              {"last_id", last},
              {"has_more", begin != items.end()},
              {"data", std::move(data)}};
}

}  // namespace adit::server
