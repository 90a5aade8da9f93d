#ifndef ADIT_CHAT_VALUE_H_
#define ADIT_CHAT_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "chat/heap.h"

// What a template computes with: Python's values as far as templates see them. A Value is a small handle that is copied
// freely; what it points at lives in a Heap and, Namespace, Cycler, Joiner, Loop and the position of an iterator aside,
// never changes once a template can see it.
namespace adit::chat {

class Evaluator;
struct Builtin;
struct MacroDef;
struct Scope;

// Text that grows at its end: strings share it as long as each is a prefix of the next.
struct TextBuffer {
  char* data = nullptr;
  size_t size = 0;
  size_t capacity = 0;
  const char** cuts = nullptr;
  size_t num_cuts = 0;
  size_t cuts_capacity = 0;
};

// An immutable string, always valid UTF-8, and which of its bytes are untrusted.
// `cuts` are the places, ascending and inside the text, where trust changes; `untrusted` is that of the first byte and
// false for an empty string. A string of one kind has no cuts, a slice shares the cuts of its whole.
struct Str {
  enum class Ascii : uint8_t { kUnknown, kYes, kNo };

  const char* data = "";
  size_t size = 0;
  const char* const* cuts = nullptr;
  size_t num_cuts = 0;
  TextBuffer* buffer = nullptr;  // holds data and cuts if they can grow in place
  bool untrusted = false;
  bool markup = false;  // the result of `safe` or `escape`: operations escape what they add to it
  mutable Ascii ascii = Ascii::kUnknown;

  std::string_view view() const { return {data, size}; }
  bool fully_trusted() const { return !untrusted && num_cuts == 0; }
};

enum class Kind : uint8_t {
  kMissing,  // no value: an absent argument, a name nothing is bound to
  kUndefined,
  kNone,
  kBool,
  kInt,
  kBigInt,  // decimal digits of a JSON integer beyond 64 bits: printed, compared, not computed with
  kFloat,
  kString,
  kSequence,
  kDict,
  kNamespace,
  kMacro,
  kFunction,
  kLoop,
  kCycler,
  kJoiner,
};

struct Cycler;
struct Dict;
struct Function;
struct Joiner;
struct Loop;
struct Macro;
struct Namespace;
struct Sequence;
struct Undefined;

class Value {
 public:
  Value() = default;  // kMissing
  static Value None() { return Value(Kind::kNone, int64_t{0}); }
  static Value Bool(bool value) { return Value(Kind::kBool, int64_t{value ? 1 : 0}); }
  static Value Int(int64_t value) { return Value(Kind::kInt, value); }
  static Value BigInt(const Str* digits) { return Value(Kind::kBigInt, digits); }
  static Value Float(double value) {
    Value result(Kind::kFloat, int64_t{0});
    result.float_ = value;
    return result;
  }
  Value(const Str* value) : Value(Kind::kString, value) {}           // NOLINT(google-explicit-constructor)
  Value(const Undefined* value) : Value(Kind::kUndefined, value) {}  // NOLINT(google-explicit-constructor)
  Value(const Sequence* value) : Value(Kind::kSequence, value) {}    // NOLINT(google-explicit-constructor)
  Value(const Dict* value) : Value(Kind::kDict, value) {}            // NOLINT(google-explicit-constructor)
  Value(const Namespace* value) : Value(Kind::kNamespace, value) {}  // NOLINT(google-explicit-constructor)
  Value(const Macro* value) : Value(Kind::kMacro, value) {}          // NOLINT(google-explicit-constructor)
  Value(const Function* value) : Value(Kind::kFunction, value) {}    // NOLINT(google-explicit-constructor)
  Value(const Loop* value) : Value(Kind::kLoop, value) {}            // NOLINT(google-explicit-constructor)
  Value(const Cycler* value) : Value(Kind::kCycler, value) {}        // NOLINT(google-explicit-constructor)
  Value(const Joiner* value) : Value(Kind::kJoiner, value) {}        // NOLINT(google-explicit-constructor)

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  // A bool is an integer too, as in Python.
  bool is_integral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat || kind_ == Kind::kBigInt; }
  bool is_missing() const { return kind_ == Kind::kMissing; }

  // Preconditions: the kind that the name says; integer() takes kInt and kBool.
  bool boolean() const { return int_ != 0; }
  int64_t integer() const { return int_; }
  double real() const { return float_; }
  const Str* str() const { return static_cast<const Str*>(object_); }  // kString, and the digits of kBigInt
  const Undefined* undefined() const { return static_cast<const Undefined*>(object_); }
  const Sequence* sequence() const { return static_cast<const Sequence*>(object_); }
  const Dict* dict() const { return static_cast<const Dict*>(object_); }
  Namespace* name_space() const { return const_cast<Namespace*>(static_cast<const Namespace*>(object_)); }
  const Macro* macro() const { return static_cast<const Macro*>(object_); }
  const Function* function() const { return static_cast<const Function*>(object_); }
  Loop* loop() const { return const_cast<Loop*>(static_cast<const Loop*>(object_)); }
  Cycler* cycler() const { return const_cast<Cycler*>(static_cast<const Cycler*>(object_)); }
  Joiner* joiner() const { return const_cast<Joiner*>(static_cast<const Joiner*>(object_)); }
  // Identity of what the value points at.
  const void* object() const { return object_; }

 private:
  Value(Kind kind, int64_t value) : kind_(kind), int_(value) {}
  Value(Kind kind, const void* object) : kind_(kind), object_(object) {}

  Kind kind_ = Kind::kMissing;
  union {
    int64_t int_ = 0;
    double float_;
    const void* object_;
  };
};

// Why something has no value; told when a template does more than print or test it.
struct Undefined {
  const Str* hint = nullptr;  // the whole message, or
  Value name;                 // what was looked up ...
  Value object;               // ... in this; kMissing for a variable
};

enum class SequenceType : uint8_t {
  kList,
  kTuple,
  kGroup,  // a tuple of groupby, with the attributes `grouper` and `list`
  kKeys,
  kValues,
  kItems,
  kRange,
  kIterator,  // lazy in Python: read once, has no length and no text
};

struct Sequence {
  SequenceType type = SequenceType::kList;
  bool untrusted = false;        // part of the context
  const Value* items = nullptr;  // all types but kRange
  size_t size = 0;
  int64_t start = 0;  // kRange
  int64_t stop = 0;
  int64_t step = 1;
  mutable size_t position = 0;  // kIterator: items before it have been taken

  bool is_tuple() const { return type == SequenceType::kTuple || type == SequenceType::kGroup; }
  bool has_length() const { return type != SequenceType::kIterator; }
  bool is_subscriptable() const { return type == SequenceType::kList || is_tuple() || type == SequenceType::kRange; }
  // The item at `index`, which is less than size.
  Value At(size_t index) const {
    return type == SequenceType::kRange ? Value::Int(start + static_cast<int64_t>(index) * step) : items[index];
  }
  std::span<const Value> span() const { return {items, size}; }  // all types but kRange
};

struct DictEntry {
  Value key;
  Value value;
};

// Keys are unique and in the order of insertion.
struct Dict {
  const DictEntry* entries = nullptr;
  size_t size = 0;
  const uint32_t* order = nullptr;  // indices of entries sorted by key, for dicts too large to scan
  bool untrusted = false;           // part of the context

  std::span<const DictEntry> span() const { return {entries, size}; }
};

struct NamespaceEntry {
  const Str* name = nullptr;
  Value value;
};

struct Namespace {
  NamespaceEntry* entries = nullptr;
  size_t size = 0;
  size_t capacity = 0;
};

struct Macro {
  const MacroDef* def = nullptr;
  Scope* scope = nullptr;  // where it was defined
};

// A global function, or a method with its object.
struct Function {
  const Builtin* builtin = nullptr;
  Value self;
};

struct Cycler {
  std::span<const Value> items;
  size_t position = 0;
};

struct Joiner {
  Value separator;
  bool used = false;
};

// Python's name of the value's type: "str", "NoneType".
std::string_view TypeName(const Value& value);

// Python's bool(value).
bool IsTrue(const Value& value);

}  // namespace adit::chat

#endif  // ADIT_CHAT_VALUE_H_
