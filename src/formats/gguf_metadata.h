#ifndef ADIT_FORMATS_GGUF_METADATA_H_
#define ADIT_FORMATS_GGUF_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adit/status.h"

namespace adit::formats {

// What the format allows.
inline constexpr size_t kMaxGgufKeyBytes = 65535;
inline constexpr size_t kMaxGgufTensorNameBytes = 64;

// Type of a GGUF value, numbered as in the file.
enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// Name of a type as the specification writes it, e.g. "UINT32".
std::string_view GgufTypeName(GgufType type);

// One value. Numbers are widened but the type in the file is kept, since readers must refuse a wrong one.
struct GgufValue {
  GgufType type = GgufType::kU32;
  GgufType element_type = GgufType::kU32;  // of an array
  // Signed and unsigned integers; floats; bool; string; arrays of each. Nested arrays are refused by the parser.
  std::variant<int64_t, uint64_t, double, bool, std::string, std::vector<int64_t>, std::vector<uint64_t>,
               std::vector<double>, std::vector<bool>, std::vector<std::string>>
      value;
};

// The key-value section of a GGUF file. Each getter gives NotFound for an absent key and Corrupt for a value of the
// wrong type or out of range; both name the key.
class GgufMetadata {
 public:
  GgufMetadata() = default;
  GgufMetadata(std::string path, std::map<std::string, GgufValue, std::less<>> values)
      : path_(std::move(path)), values_(std::move(values)) {}

  const std::map<std::string, GgufValue, std::less<>>& values() const { return values_; }
  const GgufValue* Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  const std::string& path() const { return path_; }

  // Any integer type; the value must fit int64.
  Result<int64_t> GetInt(std::string_view key) const;
  // F32, F64 or an integer.
  Result<double> GetFloat(std::string_view key) const;
  Result<bool> GetBool(std::string_view key) const;
  Result<std::string_view> GetString(std::string_view key) const;
  // The same, with a value for an absent key; a value of the wrong type is still an error.
  Result<int64_t> IntOr(std::string_view key, int64_t fallback) const;
  Result<double> FloatOr(std::string_view key, double fallback) const;
  Result<bool> BoolOr(std::string_view key, bool fallback) const;
  Result<std::string_view> StringOr(std::string_view key, std::string_view fallback) const;
  // Arrays, as spans into the metadata. GetStrings wants STRING elements; GetFloats F32 (or F64); GetInts INT32 or
  // UINT32.
  Result<std::span<const std::string>> GetStrings(std::string_view key) const;
  Result<std::vector<float>> GetFloats(std::string_view key) const;
  Result<std::vector<int32_t>> GetInts(std::string_view key) const;

 private:
  std::string path_;
  std::map<std::string, GgufValue, std::less<>> values_;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_METADATA_H_
