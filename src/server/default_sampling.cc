#include "server/default_sampling.h"

#include <fmt/core.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "server/json_fields.h"
#include "server/sampling_fields.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

Result<Json> ObjectOf(std::string_view list) {
  Json object = Json::object();
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    const size_t mark = word.find('=');
    const std::string name(word.substr(0, mark));
    if (mark == std::string_view::npos || name.empty()) {
      return InvalidArgument("'{}' is not of the form NAME=VALUE", word);
    }
    const Json value = Json::parse(word.substr(mark + 1), nullptr, /*allow_exceptions=*/false);
    if (!value.is_number()) return InvalidArgument("'{}' is \"{}\", wanted a number", name, word.substr(mark + 1));
    object[name] = value;
  }
  return object;
}

}  // namespace

Status ApplyDefaultSampling(std::string_view list, SamplingParams& params) {
  ADIT_ASSIGN_OR_RETURN(const Json object, ObjectOf(list));
  FieldReader fields(object);
  ReadSamplingNumbers(fields, params);
  if (fields.error()) return InvalidArgument("{}", fields.error()->message);
  const std::vector<std::string> unknown = fields.Unknown();
  if (!unknown.empty())
    return InvalidArgument("'{}' is no field of sampling that a default can be given for", unknown[0]);
  return Status();
}

}  // namespace adit::server
