#include "tokenizer/json_fields.h"

#include "base/error.h"

namespace adit::tokenizer {
namespace {

std::string_view KindName(JsonKind kind) {
  switch (kind) {
    case JsonKind::kMissing:
      return "missing";
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "a boolean";
    case JsonKind::kInt:
    case JsonKind::kFloat:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

Status WrongKind(JsonValue value, std::string_view key, std::string_view wanted, const std::string& where) {
  return Corrupt("{}: '{}' is {}, wanted {}", where, key, KindName(value.kind()), wanted);
}

}  // namespace

Result<bool> BoolOr(JsonValue object, std::string_view key, bool fallback, const std::string& where) {
  const JsonValue value = object[key];
  if (value.IsNull()) return fallback;
  if (value.kind() != JsonKind::kBool) return WrongKind(value, key, "a boolean", where);
  return value.Bool();
}

Result<int64_t> IntOr(JsonValue object, std::string_view key, int64_t fallback, const std::string& where) {
  const JsonValue value = object[key];
  if (value.IsNull()) return fallback;
  if (value.kind() != JsonKind::kInt) return WrongKind(value, key, "a whole number", where);
  return value.Int();
}

Result<std::string_view> StringOr(JsonValue object, std::string_view key, std::string_view fallback,
                                  const std::string& where) {
  const JsonValue value = object[key];
  if (value.IsNull()) return fallback;
  if (!value.IsString()) return WrongKind(value, key, "a string", where);
  return value.String();
}

Result<std::string_view> StringOf(JsonValue object, std::string_view key, const std::string& where) {
  const JsonValue value = object[key];
  if (!value.IsString()) return WrongKind(value, key, "a string", where);
  return value.String();
}

Result<JsonValue> ArrayOf(JsonValue object, std::string_view key, const std::string& where) {
  const JsonValue value = object[key];
  if (!value.IsArray()) return WrongKind(value, key, "an array", where);
  return value;
}

Result<std::string_view> TypeOf(JsonValue value, const std::string& where) {
  if (!value.IsObject()) return Corrupt("{}: {}, wanted an object", where, KindName(value.kind()));
  return StringOf(value, "type", where);
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes += static_cast<char>(bits >> num_bits & 0xFF);
  }
  return bytes;
}

}  // namespace adit::tokenizer
