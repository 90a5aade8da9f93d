#include "cli/token_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/printable.h"
#include "cli/units.h"

namespace adit::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Far more than any line here needs: an object, an array, numbers.
constexpr int64_t kMaxDepth = 8;

std::string Dump(const OrderedJson& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
}

// -1 for what is no digit.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> BytesOfHex(const std::string& hex) {
  if (hex.size() % 2 != 0) return InvalidArgument("\"hex\" has {} digits, wanted an even number", hex.size());
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]);
    const int low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0)
      return InvalidArgument("\"hex\" holds '{}', wanted hexadecimal digits", OneLine(hex.substr(i, 2)));
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::string HexOfBytes(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

// How deeply arrays and objects lie inside each other, if this is JSON.
int64_t Depth(std::string_view json) {
  int64_t depth = 0;
  int64_t deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return deepest;
}

// A JSON object; `wanted` is for messages.
Result<OrderedJson> ParseObject(std::string_view line, std::string_view wanted) {
  if (Depth(line) <= kMaxDepth) {
    OrderedJson json = OrderedJson::parse(line, /*callback=*/nullptr, /*allow_exceptions=*/false);
    if (json.is_object()) return json;
  }
  return InvalidArgument("'{}' is no line of the form {}", OneLine(line, kMaxShownBytes), wanted);
}

constexpr std::string_view kTextForm = R"({"text": "..."} or {"hex": "..."})";
constexpr std::string_view kIdsForm = R"({"ids": [...]})";

}  // namespace

Result<std::string> ParseTextLine(std::string_view line) {
  ADIT_ASSIGN_OR_RETURN(const OrderedJson json, ParseObject(line, kTextForm));
  const auto text = json.find("text");
  const auto hex = json.find("hex");
  if ((text == json.end()) == (hex == json.end())) {
    return InvalidArgument("'{}': wanted one of \"text\" and \"hex\"", OneLine(line, kMaxShownBytes));
  }
  const OrderedJson& value = text != json.end() ? *text : *hex;
  if (!value.is_string()) {
    return InvalidArgument("\"{}\" is {}, wanted a string", text != json.end() ? "text" : "hex", value.type_name());
  }
  if (text != json.end()) return value.get<std::string>();
  return BytesOfHex(value.get_ref<const std::string&>());
}

Result<std::vector<int32_t>> ParseIdsLine(std::string_view line) {
  ADIT_ASSIGN_OR_RETURN(const OrderedJson json, ParseObject(line, kIdsForm));
  const auto found = json.find("ids");
  if (found == json.end() || !found->is_array()) {
    return InvalidArgument("'{}' is no line of the form {}", OneLine(line, kMaxShownBytes), kIdsForm);
  }
  std::vector<int32_t> ids;
  ids.reserve(found->size());
  for (const OrderedJson& element : *found) {
    // A number above 2^63 is unsigned to the parser and compares as negative.
    const int64_t id = element.is_number_integer() ? element.get<int64_t>() : -1;
    if (id < 0 || id > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("\"ids\" holds {}, wanted numbers of 0..{}", OneLine(Dump(element), kMaxShownBytes),
                             std::numeric_limits<int32_t>::max());
    }
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

std::string IdsJson(std::span<const int32_t> ids) {
  return Dump({{"ids", std::vector<int32_t>(ids.begin(), ids.end())}});
}

std::string IdsAndPiecesJson(const tokenizer::Tokenizer& tokenizer, std::span<const int32_t> ids) {
  OrderedJson json = {{"ids", std::vector<int32_t>(ids.begin(), ids.end())}, {"pieces", OrderedJson::array()}};
  for (const int32_t id : ids) json["pieces"].push_back(tokenizer.Piece(id));
  return Dump(json);
}

std::string TextJson(std::string_view bytes) { return Dump({{"text", bytes}, {"hex", HexOfBytes(bytes)}}); }

std::string ErrorJson(std::string_view message) { return Dump({{"error", message}}); }

}  // namespace adit::cli
