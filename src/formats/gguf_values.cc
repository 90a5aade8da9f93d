#include <string>
#include <utility>
#include <vector>

#include "formats/gguf_values_internal.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

// From the GGUF specification.

// Bytes of a value in the file, or of an array's element; for a string its length field, which is the least it takes.
// 0 for an unknown type and for arrays, whose size no table can tell.
size_t ValueBytes(GgufType type) {
  constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kBytes) ? kBytes[index] : 0;
}

// Reads one value or one array's elements into the variant of a GgufValue.
class ValueReader {
 public:
  ValueReader(GgufCursor& cursor, std::string_view key) : cursor_(cursor), key_(key) {}

  Result<GgufValue> Read() {
    uint32_t type_number = 0;
    if (!cursor_.Read(type_number)) return Truncated("type");
    GgufValue value;
    value.type = static_cast<GgufType>(type_number);
    if (value.type == GgufType::kArray) {
      ADIT_RETURN_IF_ERROR(ReadArray(value));
      return value;
    }
    ADIT_RETURN_IF_ERROR(ReadScalar(value));
    return value;
  }

 private:
  Status ReadScalar(GgufValue& value) {
    switch (value.type) {
      case GgufType::kU8:
        return ReadNumber<uint8_t, uint64_t>(value);
      case GgufType::kI8:
        return ReadNumber<int8_t, int64_t>(value);
      case GgufType::kU16:
        return ReadNumber<uint16_t, uint64_t>(value);
      case GgufType::kI16:
        return ReadNumber<int16_t, int64_t>(value);
      case GgufType::kU32:
        return ReadNumber<uint32_t, uint64_t>(value);
      case GgufType::kI32:
        return ReadNumber<int32_t, int64_t>(value);
      case GgufType::kF32:
        return ReadNumber<float, double>(value);
      case GgufType::kU64:
        return ReadNumber<uint64_t, uint64_t>(value);
      case GgufType::kI64:
        return ReadNumber<int64_t, int64_t>(value);
      case GgufType::kF64:
        return ReadNumber<double, double>(value);
      case GgufType::kBool:
        return ReadBool(value.value.emplace<bool>());
      case GgufType::kString:
        return ReadString(value.value.emplace<std::string>());
      case GgufType::kArray:
        break;
    }
    return UnknownType("type", static_cast<uint32_t>(value.type));
  }

  Status ReadArray(GgufValue& value) {
    uint32_t type_number = 0;
    uint64_t count = 0;
    if (!cursor_.Read(type_number) || !cursor_.Read(count)) return Truncated("array header");
    value.element_type = static_cast<GgufType>(type_number);
    if (value.element_type == GgufType::kArray) {
      return Unsupported("gguf: {}: key {}: arrays of arrays are not supported", cursor_.path(), Quoted(key_));
    }
    const size_t element_bytes = ValueBytes(value.element_type);
    if (element_bytes == 0) return UnknownType("element type", type_number);
    if (count > cursor_.remaining() / element_bytes) {
      return Truncated(fmt::format("array of {} elements of {} bytes or more", count, element_bytes));
    }
    return ReadElements(value, static_cast<size_t>(count));
  }

  Status ReadElements(GgufValue& value, size_t count) {
    switch (value.element_type) {
      case GgufType::kU8:
        return ReadNumbers<uint8_t, uint64_t>(value, count);
      case GgufType::kI8:
        return ReadNumbers<int8_t, int64_t>(value, count);
      case GgufType::kU16:
        return ReadNumbers<uint16_t, uint64_t>(value, count);
      case GgufType::kI16:
        return ReadNumbers<int16_t, int64_t>(value, count);
      case GgufType::kU32:
        return ReadNumbers<uint32_t, uint64_t>(value, count);
      case GgufType::kI32:
        return ReadNumbers<int32_t, int64_t>(value, count);
      case GgufType::kF32:
        return ReadNumbers<float, double>(value, count);
      case GgufType::kU64:
        return ReadNumbers<uint64_t, uint64_t>(value, count);
      case GgufType::kI64:
        return ReadNumbers<int64_t, int64_t>(value, count);
      case GgufType::kF64:
        return ReadNumbers<double, double>(value, count);
      case GgufType::kBool:
        return ReadBools(value.value.emplace<std::vector<bool>>(), count);
      case GgufType::kString:
        return ReadStrings(value.value.emplace<std::vector<std::string>>(), count);
      case GgufType::kArray:
        break;
    }
    return UnknownType("element type", static_cast<uint32_t>(value.element_type));
  }

  template <typename Stored, typename Widened>
  Status ReadNumber(GgufValue& value) {
    Stored stored{};
    if (!cursor_.Read(stored)) return Truncated("value");
    value.value.emplace<Widened>(static_cast<Widened>(stored));
    return Status();
  }

  template <typename Stored, typename Widened>
  Status ReadNumbers(GgufValue& value, size_t count) {
    auto& out = value.value.emplace<std::vector<Widened>>();
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      Stored stored{};
      if (!cursor_.Read(stored)) return TruncatedElement(i, count);
      out.push_back(static_cast<Widened>(stored));
    }
    return Status();
  }

  Status ReadBool(bool& out) {
    uint8_t stored = 0;
    if (!cursor_.Read(stored)) return Truncated("value");
    return StoreBool(stored, out);
  }

  Status ReadBools(std::vector<bool>& out, size_t count) {
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      uint8_t stored = 0;
      bool element = false;
      if (!cursor_.Read(stored)) return TruncatedElement(i, count);
      ADIT_RETURN_IF_ERROR(StoreBool(stored, element));
      out.push_back(element);
    }
    return Status();
  }

  Status StoreBool(uint8_t stored, bool& out) {
    if (stored > 1) {
      return Corrupt("gguf: {}: key {}: byte {} for a BOOL, wanted 0 or 1", cursor_.path(), Quoted(key_), stored);
    }
    out = stored == 1;
    return Status();
  }

  Status ReadString(std::string& out) {
    std::string_view text;
    if (!cursor_.ReadString(text)) return Truncated("string");
    out = text;
    return Status();
  }

  Status ReadStrings(std::vector<std::string>& out, size_t count) {
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      std::string_view text;
      if (!cursor_.ReadString(text)) return TruncatedElement(i, count);
      out.emplace_back(text);
    }
    return Status();
  }

  Status TruncatedElement(size_t index, size_t count) const {
    return Truncated(fmt::format("element {} of {}", index, count));
  }

  Status Truncated(std::string_view what) const {
    return cursor_.Truncated(fmt::format("key {}: {}", Quoted(key_), what));
  }

  Status UnknownType(std::string_view what, uint32_t number) const {
    return Corrupt("gguf: {}: key {}: {} {}, known are 0 to 12", cursor_.path(), Quoted(key_), what, number);
  }

  GgufCursor& cursor_;
  std::string_view key_;
};

Result<std::string_view> ReadKey(GgufCursor& cursor, uint64_t index) {
  const size_t begin = cursor.offset();
  std::string_view key;
  if (!cursor.ReadString(key)) return cursor.Truncated(fmt::format("key {}", index));
  if (key.empty() || key.size() > kMaxGgufKeyBytes) {
    return Corrupt("gguf: {}: key {} at byte {}: length {}, wanted 1 to {}", cursor.path(), index, begin, key.size(),
                   kMaxGgufKeyBytes);
  }
  if (!IsPrintableAscii(key)) {
    return Corrupt("gguf: {}: key {} at byte {}: {} is not printable ASCII", cursor.path(), index, begin, Quoted(key));
  }
  return key;
}

}  // namespace

Result<GgufMetadata> ReadGgufMetadata(GgufCursor& cursor, uint64_t num_pairs) {
  std::map<std::string, GgufValue, std::less<>> values;
  for (uint64_t i = 0; i < num_pairs; ++i) {
    ADIT_ASSIGN_OR_RETURN(const std::string_view key, ReadKey(cursor, i));
    ADIT_ASSIGN_OR_RETURN(GgufValue value, ValueReader(cursor, key).Read());
    if (!values.try_emplace(std::string(key), std::move(value)).second) {
      return Corrupt("gguf: {}: key {} occurs twice", cursor.path(), Quoted(key));
    }
  }
  return GgufMetadata(cursor.path(), std::move(values));
}

}  // namespace adit::formats
