// Schemas of strings and numbers.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "grammar/regex_check.h"
#include "grammar/schema_check.h"
#include "grammar/schema_check_internal.h"
#include "grammar/schema_keywords.h"

namespace adit::grammar {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Whole numbers up to here are the same as doubles; XGrammar counts in 64 bits.
constexpr double kMaxWhole = 9007199254740992.0;
constexpr int64_t kMaxMultiple = 1024;
constexpr int64_t kMaxMultipleRange = 10000;

// A count such as minItems; `otherwise` where it is absent.
Result<int64_t> Count(const OrderedJson& schema, const char* key, int64_t otherwise, const std::string& place) {
  const auto value = schema.find(key);
  if (value == schema.end()) return otherwise;
  if (!IsType(*value, "integer") || value->get<double>() < 0) {
    return InvalidArgument("schema: at '{}': {} is {}; it is a whole number from 0 on", place, key, Told(*value));
  }
  if (value->get<double>() > static_cast<double>(kMaxSchemaItems)) {
    return InvalidArgument("schema: at '{}': {} is {}; at most {} is taken", place, key, Told(*value), kMaxSchemaItems);
  }
  return static_cast<int64_t>(value->get<double>());
}

// A bound of numbers; nothing where it is absent.
Result<std::optional<double>> Bound(const OrderedJson& schema, const char* key, const std::string& place) {
  const auto value = schema.find(key);
  if (value == schema.end()) return std::optional<double>();
  if (!value->is_number()) {
    return InvalidArgument("schema: at '{}': {} is {}, no number", place, key, Told(*value));
  }
  return std::optional<double>(value->get<double>());
}

}  // namespace

std::string Told(const OrderedJson& value) {
  const std::string text = value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57 - IncompleteUtf8Suffix(text.substr(0, 57))) + "...";
}

bool IsType(const OrderedJson& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  return value.is_number_integer() || (value.is_number_float() && std::floor(value.get<double>()) == value);
}

Result<Counts> CountsOf(const OrderedJson& schema, const char* least, const char* most, const std::string& place) {
  Counts counts;
  ADIT_ASSIGN_OR_RETURN(counts.least, Count(schema, least, 0, place));
  ADIT_ASSIGN_OR_RETURN(counts.most, Count(schema, most, -1, place));
  if (counts.most >= 0 && counts.least > counts.most) {
    return InvalidArgument("schema: at '{}': {} is {}, more than {}, which is {}", place, least, counts.least, most,
                           counts.most);
  }
  return counts;
}

Status Beside(const char* key, const char* other, const std::string& place) {
  return Unsupported("schema: at '{}': the keyword '{}' beside {} cannot be enforced", place, key, other);
}

// The same expression in ASCII.
std::string WithoutForeign(const std::string& regex) {
  std::string ascii;
  std::string_view rest = regex;
  while (!rest.empty()) {
    const auto byte = static_cast<unsigned char>(rest[0]);
    if (byte < 0x80) {
      ascii += rest[0];
      rest.remove_prefix(1);
      continue;
    }
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    uint32_t code = byte & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; ++i) code = (code << 6) | (static_cast<unsigned char>(rest[i]) & 0x3FU);
    ascii += fmt::format("\\u{{{:x}}}", code);
    rest.remove_prefix(length);
  }
  return ascii;
}

Result<OrderedJson> WriteString(const OrderedJson& schema, const std::string& place) {
  OrderedJson out = {{"type", "string"}};
  ADIT_ASSIGN_OR_RETURN(const Counts length, CountsOf(schema, "minLength", "maxLength", place));
  const bool has_length = length.least > 0 || length.most >= 0;
  const char* other = has_length ? "a length" : nullptr;
  if (const auto pattern = schema.find("pattern"); pattern != schema.end()) {
    if (!pattern->is_string()) {
      return InvalidArgument("schema: at '{}': pattern is {}, no string", place, Told(*pattern));
    }
    if (other != nullptr) return Beside("pattern", other, place);
    other = "pattern";
    const auto& regex = pattern->get_ref<const std::string&>();
    if (const Status status = CheckRegex(regex, RegexUse::kJsonString); !status.ok()) {
      return Status(status.code(), fmt::format("schema: at '{}': pattern: {}", place, status.message()));
    }
    out["pattern"] = WithoutForeign(regex);
  }
  if (const auto format = schema.find("format"); format != schema.end()) {
    if (!format->is_string()) {
      return InvalidArgument("schema: at '{}': format is {}, no string", place, Told(*format));
    }
    const StringFormat known = FormatOf(format->get_ref<const std::string&>());
    if (known == StringFormat::kUnsupported) {
      return Unsupported("schema: at '{}': the format {} cannot be enforced", place, Told(*format));
    }
    if (known == StringFormat::kEnforced) {
      if (other != nullptr) return Beside("format", other, place);
      out["format"] = *format;
    }
  }
  if (length.least > 0) out["minLength"] = length.least;
  if (length.most >= 0) out["maxLength"] = length.most;
  return out;
}

Result<OrderedJson> WriteInteger(const OrderedJson& schema, const std::string& place) {
  OrderedJson out = {{"type", "integer"}};
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  ADIT_ASSIGN_OR_RETURN(const auto minimum, Bound(schema, "minimum", place));
  ADIT_ASSIGN_OR_RETURN(const auto above, Bound(schema, "exclusiveMinimum", place));
  ADIT_ASSIGN_OR_RETURN(const auto maximum, Bound(schema, "maximum", place));
  ADIT_ASSIGN_OR_RETURN(const auto below, Bound(schema, "exclusiveMaximum", place));
  if (minimum) low = std::ceil(*minimum);
  if (above) low = std::max(low, std::floor(*above) + 1);
  if (maximum) high = std::floor(*maximum);
  if (below) high = std::min(high, std::ceil(*below) - 1);
  if (low > high) return InvalidArgument("schema: at '{}': no whole number lies in its bounds", place);
  for (const auto& [key, bound] : {std::pair{"minimum", low}, std::pair{"maximum", high}}) {
    if (std::isinf(bound)) continue;
    if (std::abs(bound) > kMaxWhole) {
      return Unsupported("schema: at '{}': a bound of {} is beyond what can be enforced", place, bound);
    }
    out[key] = static_cast<int64_t>(bound);
  }
  const auto multiple = schema.find("multipleOf");
  if (multiple == schema.end()) return out;
  const bool whole = multiple->is_number() && IsType(*multiple, "integer") && multiple->get<double>() > 0;
  if (!whole || multiple->get<double>() > static_cast<double>(kMaxMultiple)) {
    return Unsupported("schema: at '{}': multipleOf {} cannot be enforced; whole numbers from 1 to {} can", place,
                       Told(*multiple), kMaxMultiple);
  }
  const bool is_bounded = !std::isinf(low) || !std::isinf(high);
  if (is_bounded && !(high - low <= static_cast<double>(kMaxMultipleRange))) {
    return Unsupported("schema: at '{}': multipleOf beside bounds that are no more than {} apart cannot be enforced",
                       place, kMaxMultipleRange);
  }
  out["multipleOf"] = static_cast<int64_t>(multiple->get<double>());
  return out;
}

Result<OrderedJson> WriteNumber(const OrderedJson& schema, const std::string& place) {
  OrderedJson out = {{"type", "number"}};
  if (schema.contains("multipleOf")) {
    return Unsupported("schema: at '{}': the keyword 'multipleOf' of numbers that are not whole cannot be enforced",
                       place);
  }
  for (const char* key : {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}) {
    ADIT_ASSIGN_OR_RETURN(const std::optional<double> bound, Bound(schema, key, place));
    if (!bound) continue;
    if (std::abs(*bound) > kMaxWhole) {
      return Unsupported("schema: at '{}': a bound of {} is beyond what can be enforced", place, *bound);
    }
    out[key] = *bound;
  }
  return out;
}

}  // namespace adit::grammar
