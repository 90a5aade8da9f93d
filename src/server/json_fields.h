#ifndef ADIT_SERVER_JSON_FIELDS_H_
#define ADIT_SERVER_JSON_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "server/api_error.h"

namespace adit::server {

inline constexpr int64_t kMaxInt64 = INT64_MAX;

// How deeply arrays and objects of a request may lie inside each other.
inline constexpr int kMaxJsonDepth = 64;

// One JSON value. InvalidArgument, with the byte at which it goes wrong, for what is none or lies too deep.
Result<nlohmann::json> ParseJson(std::string_view text);

// The number if it is a whole one of int64_t, written 1 or 1.0.
std::optional<int64_t> WholeNumber(const nlohmann::json& value);

// In [low, high], or in (low, high].
struct RealRange {
  double low = 0;
  double high = 0;
  bool open_low = false;
};

// Reads the fields of a request. One that is null is absent. The first that is wrong is remembered, and everything read
// after it gives nothing.
class FieldReader {
 public:
  // `object` is one, and outlives the reader.
  explicit FieldReader(const nlohmann::json& object) : object_(object) {}

  // Null when it is absent. The reader then knows that there is such a field.
  const nlohmann::json* Find(const char* key);
  // Fields of the object that nobody has looked for, in the object's order.
  std::vector<std::string> Unknown() const;

  // The value of a field; nothing when it is absent or wrong.
  std::optional<bool> Flag(const char* key);
  std::optional<int64_t> Whole(const char* key, int64_t low, int64_t high);
  std::optional<double> Real(const char* key, RealRange range);
  std::optional<std::string> Text(const char* key, size_t min_bytes, size_t max_bytes);

  // Remembers an error unless there is one already. `wanted`: "a string".
  void Fail(std::string code, std::string param, std::string message);
  void FailType(std::string param, const nlohmann::json& got, std::string_view wanted);
  const std::optional<ApiError>& error() const { return error_; }

 private:
  const nlohmann::json& object_;
  std::vector<std::string_view> known_;  // keys that have been looked for; literals
  std::optional<ApiError> error_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_JSON_FIELDS_H_
