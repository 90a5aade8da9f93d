#ifndef ADIT_TOKENIZER_JSON_FIELDS_H_
#define ADIT_TOKENIZER_JSON_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "tokenizer/json_document.h"

// Members of an object with the type they must have. `where` begins each message: file and place in it. A member that
// is missing or null counts as the fallback; Corrupt for one of another type.
namespace adit::tokenizer {

Result<bool> BoolOr(JsonValue object, std::string_view key, bool fallback, const std::string& where);
Result<int64_t> IntOr(JsonValue object, std::string_view key, int64_t fallback, const std::string& where);
Result<std::string_view> StringOr(JsonValue object, std::string_view key, std::string_view fallback,
                                  const std::string& where);
// Corrupt if it is not there.
Result<std::string_view> StringOf(JsonValue object, std::string_view key, const std::string& where);
Result<JsonValue> ArrayOf(JsonValue object, std::string_view key, const std::string& where);

// The member "type" of a part of tokenizer.json; Corrupt if `value` is no object or has none.
Result<std::string_view> TypeOf(JsonValue value, const std::string& where);

// The bytes that base64 text stands for (RFC 4648).
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_JSON_FIELDS_H_
