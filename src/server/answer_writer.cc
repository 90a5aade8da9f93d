#include "server/answer_writer.h"

#include <nlohmann/json.hpp>

namespace adit::server {

std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

void WriteNamedEvent(const char* name, const nlohmann::ordered_json& data, std::string& out) {
  out += "event: ";
  out += name;
  out += "\ndata: " + JsonText(data) + "\n\n";
}

}  // namespace adit::server
