#ifndef ADIT_FORMATS_JSON_FIELDS_H_
#define ADIT_FORMATS_JSON_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "formats/json.h"

namespace adit::formats {

// Reads the members of one JSON object by name, for configuration files: null counts as absent, and every error names
// the file and the member. Getters give Corrupt for a value of another kind or out of range.
class JsonFields {
 public:
  // `object` outlives this. `where` names it in messages: "config.json" or "config.json: rope_scaling".
  JsonFields(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  // The member, or null where it is absent or null.
  const Json* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  // An integer in [low, high]; a double that is one counts. Corrupt when absent.
  Result<int64_t> Int(std::string_view name, int64_t low, int64_t high) const;
  Result<int64_t> IntOr(std::string_view name, int64_t fallback, int64_t low, int64_t high) const;
  // A number in [low, high].
  Result<double> Float(std::string_view name, double low, double high) const;
  Result<double> FloatOr(std::string_view name, double fallback, double low, double high) const;
  Result<bool> BoolOr(std::string_view name, bool fallback) const;
  Result<std::string> StringOr(std::string_view name, std::string_view fallback) const;
  // An array of numbers each in [low, high].
  Result<std::vector<double>> Floats(std::string_view name, double low, double high) const;
  // The object of that name, with its place in `where`.
  Result<JsonFields> Object(std::string_view name) const;

 private:
  Result<const Json*> Get(std::string_view name) const;
  Status WrongKind(std::string_view name, const Json& value, std::string_view wanted) const;

  const Json* object_;
  std::string where_;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_JSON_FIELDS_H_
