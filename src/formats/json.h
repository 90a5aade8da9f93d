#ifndef ADIT_FORMATS_JSON_H_
#define ADIT_FORMATS_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "adit/status.h"

namespace adit::formats {

// What a JSON text out of a model may ask for. The defaults suit configuration files.
struct JsonLimits {
  size_t max_bytes = size_t{16} << 20;
  int max_depth = 64;                   // of objects and arrays in one another
  size_t max_values = size_t{1} << 20;  // all together; a value takes some 50 bytes of memory
  // Infinity and -Infinity as numbers, which JSON does not have and Python's json writes.
  bool allow_infinity = false;
};

// One value of a JSON text. Immutable; copying copies the whole tree.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // in the order of the text

  // Strict JSON in UTF-8, no key twice in one object. Corrupt, with `name` and the byte, for anything else;
  // ResourceExhausted beyond a limit.
  static Result<Json> Parse(std::string_view text, const std::string& name, const JsonLimits& limits = {});
  // Parse() of a whole file. NotFound, InvalidArgument or Io when it cannot be read.
  static Result<Json> ReadFile(const std::string& path, const JsonLimits& limits = {});

  Json() = default;  // null
  template <typename T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Json>) explicit Json(T&& value) : value_(std::forward<T>(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  // The value if it is of that kind, else null. A number without fraction or exponent that fits is an int64_t, any
  // other a double.
  const bool* AsBool() const { return std::get_if<bool>(&value_); }
  const int64_t* AsInt() const { return std::get_if<int64_t>(&value_); }
  const double* AsDouble() const { return std::get_if<double>(&value_); }
  const std::string* AsString() const { return std::get_if<std::string>(&value_); }
  const Array* AsArray() const { return std::get_if<Array>(&value_); }
  const Object* AsObject() const { return std::get_if<Object>(&value_); }
  Array* AsArray() { return std::get_if<Array>(&value_); }
  Object* AsObject() { return std::get_if<Object>(&value_); }

  // The member of that name, or null where there is none or this is no object.
  const Json* Find(std::string_view key) const;

  // What it is, for messages: "null", "a string", "an object".
  std::string_view KindName() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_JSON_H_
