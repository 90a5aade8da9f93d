#include "formats/json_fields.h"

#include <cmath>
#include <optional>

#include "base/error.h"

namespace adit::formats {
namespace {

std::optional<double> NumberOf(const Json& value) {
  if (const int64_t* number = value.AsInt(); number != nullptr) return static_cast<double>(*number);
  if (const double* number = value.AsDouble(); number != nullptr) return *number;
  return std::nullopt;
}

}  // namespace

Status JsonFields::WrongKind(std::string_view name, const Json& value, std::string_view wanted) const {
  return Corrupt("{}: {} is {}, wanted {}", where_, name, value.KindName(), wanted);
}

const Json* JsonFields::Find(std::string_view name) const {
  const Json* value = object_->Find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<const Json*> JsonFields::Get(std::string_view name) const {
  const Json* value = Find(name);
  if (value == nullptr) return Corrupt("{}: {} is missing", where_, name);
  return value;
}

Result<int64_t> JsonFields::Int(std::string_view name, int64_t low, int64_t high) const {
  ADIT_ASSIGN_OR_RETURN(const Json* value, Get(name));
  std::optional<int64_t> number;
  if (const int64_t* whole = value->AsInt(); whole != nullptr) number = *whole;
  if (const double* real = value->AsDouble();
      real != nullptr && std::abs(*real) < 0x1p53 && *real == std::trunc(*real)) {
    number = static_cast<int64_t>(*real);
  }
  if (!number) return WrongKind(name, *value, "an integer");
  if (*number < low || *number > high) {
    return Corrupt("{}: {} is {}, which is not in {}..{}", where_, name, *number, low, high);
  }
  return *number;
}

Result<int64_t> JsonFields::IntOr(std::string_view name, int64_t fallback, int64_t low, int64_t high) const {
  if (!Has(name)) return fallback;
  return Int(name, low, high);
}

Result<double> JsonFields::Float(std::string_view name, double low, double high) const {
  ADIT_ASSIGN_OR_RETURN(const Json* value, Get(name));
  const std::optional<double> number = NumberOf(*value);
  if (!number) return WrongKind(name, *value, "a number");
  if (!(*number >= low && *number <= high)) {
    return Corrupt("{}: {} is {}, which is not in {}..{}", where_, name, *number, low, high);
  }
  return *number;
}

Result<double> JsonFields::FloatOr(std::string_view name, double fallback, double low, double high) const {
  if (!Has(name)) return fallback;
  return Float(name, low, high);
}

Result<bool> JsonFields::BoolOr(std::string_view name, bool fallback) const {
  const Json* value = Find(name);
  if (value == nullptr) return fallback;
  if (const bool* flag = value->AsBool(); flag != nullptr) return *flag;
  return WrongKind(name, *value, "true or false");
}

Result<std::string> JsonFields::StringOr(std::string_view name, std::string_view fallback) const {
  const Json* value = Find(name);
  if (value == nullptr) return std::string(fallback);
  if (const std::string* text = value->AsString(); text != nullptr) return *text;
  return WrongKind(name, *value, "a string");
}

Result<std::vector<double>> JsonFields::Floats(std::string_view name, double low, double high) const {
  ADIT_ASSIGN_OR_RETURN(const Json* value, Get(name));
  const Json::Array* elements = value->AsArray();
  if (elements == nullptr) return WrongKind(name, *value, "an array of numbers");
  std::vector<double> numbers;
  for (const Json& element : *elements) {
    const std::optional<double> number = NumberOf(element);
    if (!number) return WrongKind(name, element, "a number in each element");
    if (!(*number >= low && *number <= high)) {
      return Corrupt("{}: {}[{}] is {}, which is not in {}..{}", where_, name, numbers.size(), *number, low, high);
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Result<JsonFields> JsonFields::Object(std::string_view name) const {
  ADIT_ASSIGN_OR_RETURN(const Json* value, Get(name));
  if (value->AsObject() == nullptr) return WrongKind(name, *value, "an object");
  return JsonFields(*value, where_ + ": " + std::string(name));
}

}  // namespace adit::formats
