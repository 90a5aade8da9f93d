#include "formats/gguf_metadata.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

std::string TypeText(const GgufValue& value) {
  if (value.type != GgufType::kArray) return std::string(GgufTypeName(value.type));
  return fmt::format("ARRAY of {}", GgufTypeName(value.element_type));
}

Status Missing(const std::string& path, std::string_view key) {
  return NotFound("gguf: {}: key {} is missing", path, Quoted(key));
}

Status WrongType(const std::string& path, std::string_view key, const GgufValue& value, std::string_view wanted) {
  return Corrupt("gguf: {}: key {} has type {}, wanted {}", path, Quoted(key), TypeText(value), wanted);
}

// One number of an array that does not fit what the caller reads it as.
template <typename T>
Status OutOfRange(const std::string& path, std::string_view key, size_t index, T element, std::string_view wanted) {
  return Corrupt("gguf: {}: key {}: element {} is {}, wanted {}", path, Quoted(key), index, element, wanted);
}

constexpr std::string_view kInt32Range = "-2147483648 to 2147483647";

}  // namespace

std::string_view GgufTypeName(GgufType type) {
  constexpr std::string_view kNames[] = {"UINT8", "INT8",   "UINT16", "INT16",  "UINT32", "INT32",  "FLOAT32",
                                         "BOOL",  "STRING", "ARRAY",  "UINT64", "INT64",  "FLOAT64"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown type";
}

const GgufValue* GgufMetadata::Find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

Result<int64_t> GgufMetadata::GetInt(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return Missing(path_, key);
  if (const auto* number = std::get_if<int64_t>(&value->value)) return *number;
  const auto* number = std::get_if<uint64_t>(&value->value);
  if (number == nullptr) return WrongType(path_, key, *value, "an integer");
  if (*number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Corrupt("gguf: {}: key {} is {}, wanted at most 2^63 - 1", path_, Quoted(key), *number);
  }
  return static_cast<int64_t>(*number);
}

Result<double> GgufMetadata::GetFloat(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return Missing(path_, key);
  if (const auto* number = std::get_if<double>(&value->value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value->value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<uint64_t>(&value->value)) return static_cast<double>(*number);
  return WrongType(path_, key, *value, "a number");
}

Result<bool> GgufMetadata::GetBool(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return Missing(path_, key);
  if (const auto* flag = std::get_if<bool>(&value->value)) return *flag;
  return WrongType(path_, key, *value, "BOOL");
}

Result<std::string_view> GgufMetadata::GetString(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return Missing(path_, key);
  if (const auto* text = std::get_if<std::string>(&value->value)) return std::string_view(*text);
  return WrongType(path_, key, *value, "STRING");
}

Result<int64_t> GgufMetadata::IntOr(std::string_view key, int64_t fallback) const {
  if (!Has(key)) return fallback;
  return GetInt(key);
}

Result<double> GgufMetadata::FloatOr(std::string_view key, double fallback) const {
  if (!Has(key)) return fallback;
  return GetFloat(key);
}

Result<bool> GgufMetadata::BoolOr(std::string_view key, bool fallback) const {
  if (!Has(key)) return fallback;
  return GetBool(key);
}

Result<std::string_view> GgufMetadata::StringOr(std::string_view key, std::string_view fallback) const {
  if (!Has(key)) return fallback;
  return GetString(key);
}

Result<std::span<const std::string>> GgufMetadata::GetStrings(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return Missing(path_, key);
  if (const auto* strings = std::get_if<std::vector<std::string>>(&value->value)) {
    return std::span<const std::string>(*strings);
  }
  return WrongType(path_, key, *value, "ARRAY of STRING");
}

Result<std::vector<float>> GgufMetadata::GetFloats(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return Missing(path_, key);
  const auto* numbers = std::get_if<std::vector<double>>(&value->value);
  if (numbers == nullptr) return WrongType(path_, key, *value, "ARRAY of FLOAT32");
  std::vector<float> floats;
  floats.reserve(numbers->size());
  for (const double number : *numbers) {
    if (std::isfinite(number) && std::abs(number) > static_cast<double>(std::numeric_limits<float>::max())) {
      return OutOfRange(path_, key, floats.size(), number, "a value within FLOAT32");
    }
    floats.push_back(static_cast<float>(number));
  }
  return floats;
}

Result<std::vector<int32_t>> GgufMetadata::GetInts(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return Missing(path_, key);
  const bool narrow = value->element_type == GgufType::kI32 || value->element_type == GgufType::kU32;
  std::vector<int32_t> ints;
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value->value); narrow && numbers != nullptr) {
    ints.reserve(numbers->size());
    for (const int64_t number : *numbers) {
      if (!std::in_range<int32_t>(number)) return OutOfRange(path_, key, ints.size(), number, kInt32Range);
      ints.push_back(static_cast<int32_t>(number));
    }
    return ints;
  }
  if (const auto* numbers = std::get_if<std::vector<uint64_t>>(&value->value); narrow && numbers != nullptr) {
    ints.reserve(numbers->size());
    for (const uint64_t number : *numbers) {
      if (!std::in_range<int32_t>(number)) return OutOfRange(path_, key, ints.size(), number, kInt32Range);
      ints.push_back(static_cast<int32_t>(number));
    }
    return ints;
  }
  return WrongType(path_, key, *value, "ARRAY of INT32");
}

}  // namespace adit::formats
