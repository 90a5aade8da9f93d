#include "server/json_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr double kTwoTo63 = 9223372036854775808.0;

bool IsWholeNumber(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::floor(value.get<double>()) == value.get<double>();
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  bool too_deep = false;
  // What lies too deep is passed over, so that it takes no memory.
  const auto keep = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxJsonDepth;
    return depth <= kMaxJsonDepth;
  };
  try {
    Json json = Json::parse(text, keep);
    if (too_deep) return InvalidArgument("JSON lies deeper than {} levels", kMaxJsonDepth);
    return json;
  } catch (const Json::parse_error& error) {
    return InvalidArgument("not valid JSON at byte {}", error.byte);
  } catch (const Json::exception&) {
    // A number that no double holds.
    return InvalidArgument("JSON with a number out of range");
  }
}

std::optional<int64_t> WholeNumber(const Json& value) {
  if (!IsWholeNumber(value)) return std::nullopt;
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  const auto number = value.get<double>();
  if (!(number >= -kTwoTo63 && number < kTwoTo63)) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::vector<std::string> FieldReader::Unknown() const {
  std::vector<std::string> unknown;
  for (const auto& [key, value] : object_.items()) {
    if (!value.is_null() && std::find(known_.begin(), known_.end(), key) == known_.end()) unknown.push_back(key);
  }
  return unknown;
}

const Json* FieldReader::Find(const char* key) {
  known_.push_back(key);
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<bool> FieldReader::Flag(const char* key) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    FailType(key, *value, "true or false");
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<int64_t> FieldReader::Whole(const char* key, int64_t low, int64_t high) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!IsWholeNumber(*value)) {
    FailType(key, *value, "a whole number");
    return std::nullopt;
  }
  const std::optional<int64_t> number = WholeNumber(*value);
  if (!number || *number < low || *number > high) {
    Fail("invalid_value", key, fmt::format("'{}' is {}; it is in {}..{}", key, value->dump(), low, high));
    return std::nullopt;
  }
  return number;
}

std::optional<double> FieldReader::Real(const char* key, RealRange range) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    FailType(key, *value, "a number");
    return std::nullopt;
  }
  const auto number = value->get<double>();
  const bool above = range.open_low ? number > range.low : number >= range.low;
  if (!above || !(number <= range.high)) {
    Fail("invalid_value", key,
         fmt::format("'{}' is {}; it is in {}{}, {}]", key, value->dump(), range.open_low ? '(' : '[', range.low,
                     range.high));
    return std::nullopt;
  }
  return number;
}

std::optional<std::string> FieldReader::Text(const char* key, size_t min_bytes, size_t max_bytes) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    FailType(key, *value, "a string");
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() < min_bytes || text.size() > max_bytes) {
    Fail(text.size() > max_bytes ? "string_above_max_length" : "invalid_value", key,
         fmt::format("'{}' has {} bytes; it has {} to {}", key, text.size(), min_bytes, max_bytes));
    return std::nullopt;
  }
  return text;
}

void FieldReader::Fail(std::string code, std::string param, std::string message) {
  if (error_) return;
  error_ = ApiError{.code = std::move(code), .message = std::move(message), .param = std::move(param)};
}

void FieldReader::FailType(std::string param, const Json& got, std::string_view wanted) {
  // A number says more than that it is one.
  const std::string what = got.is_number() ? got.dump() : fmt::format("of type {}", got.type_name());
  std::string message = fmt::format("'{}' is {}, wanted {}", param, what, wanted);
  Fail("invalid_type", std::move(param), std::move(message));
}

}  // namespace adit::server
