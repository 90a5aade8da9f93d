#ifndef ADIT_TOKENIZER_JSON_DOCUMENT_H_
#define ADIT_TOKENIZER_JSON_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::tokenizer {

class JsonDocument;

enum class JsonKind : uint8_t { kMissing, kNull, kBool, kInt, kFloat, kString, kArray, kObject };

// A value of a document, or kMissing, the value of a member that is not there. Borrows from the document.
class JsonValue {
 public:
  JsonValue() = default;

  JsonKind kind() const;
  // Missing counts as null: files leave out what others write as null.
  bool IsNull() const { return kind() == JsonKind::kMissing || kind() == JsonKind::kNull; }
  bool IsString() const { return kind() == JsonKind::kString; }
  bool IsArray() const { return kind() == JsonKind::kArray; }
  bool IsObject() const { return kind() == JsonKind::kObject; }
  bool IsNumber() const { return kind() == JsonKind::kInt || kind() == JsonKind::kFloat; }

  // Preconditions of the accessors: the kind. A float is rounded to the nearest double.
  bool Bool() const;
  int64_t Int() const;
  double Float() const;  // kInt too
  std::string_view String() const;

  // Elements of an array, members of an object; 0 for anything else.
  size_t size() const;
  // Member of that name, the last one if there are several; missing if there is none or this is no object.
  JsonValue operator[](std::string_view key) const;

  // Calls visit(value) for the elements of an array, in order, until it returns an error.
  template <typename Visit>
  Status ForEach(const Visit& visit) const {
    for (size_t i = FirstChild(); i < End(); i = Next(i)) ADIT_RETURN_IF_ERROR(visit(At(i)));
    return Status();
  }
  // Calls visit(key, value) for the members of an object, in order, until it returns an error.
  template <typename Visit>
  Status ForEachMember(const Visit& visit) const {
    for (size_t i = FirstChild(); i < End(); i = Next(Next(i))) {
      ADIT_RETURN_IF_ERROR(visit(At(i).String(), At(Next(i))));
    }
    return Status();
  }

 private:
  friend class JsonDocument;
  JsonValue(const JsonDocument* document, size_t index) : document_(document), index_(index) {}

  size_t FirstChild() const;
  size_t End() const;
  size_t Next(size_t index) const;
  JsonValue At(size_t index) const { return {document_, index}; }

  const JsonDocument* document_ = nullptr;
  size_t index_ = 0;
};

// A parsed JSON text in two arrays: 16 bytes for each value or key, in the order of the text, and the strings. A
// vocabulary of 262,144 entries with twice as many merges takes 50 MB and is read in one pass without recursion.
class JsonDocument {
 public:
  // Corrupt with the byte position for text that is not JSON (RFC 8259, UTF-8), ResourceExhausted above the limits:
  // 32 levels, 2^26 values, kMaxBytes of text. `name` begins each message.
  static Result<JsonDocument> Parse(std::string_view text, const std::string& name);
  static constexpr size_t kMaxBytes = size_t{1} << 28;

  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  friend class JsonBuilder;
  struct Node {
    JsonKind kind;
    uint32_t end = 0;    // kArray, kObject: index of the node behind the last one inside
    uint64_t value = 0;  // bits of a number or flag; offset of a string in strings_; number of children
  };

  std::vector<Node> nodes_;
  std::string strings_;  // each as four bytes of length and its bytes
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_JSON_DOCUMENT_H_
