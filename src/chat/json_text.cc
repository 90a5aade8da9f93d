#include "chat/json_text.h"

#include <fmt/core.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/compare.h"
#include "chat/number.h"
#include "chat/text.h"
#include "chat/to_text.h"

namespace adit::chat {
namespace {

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, Heap& heap) : style_(style), heap_(heap) {}

  Status Write(const Value& value);
  const std::string& text() const { return text_; }
  bool untrusted() const { return untrusted_; }

 private:
  Status WriteList(const Sequence& list);
  Status WriteDict(const Dict& dict);
  Status WriteKey(const Value& key);
  Result<std::vector<DictEntry>> OrderedEntries(const Dict& dict);
  void WriteString(const Str& str);
  void WriteEscaped(char32_t c);
  void NewLine();

  const JsonStyle& style_;
  Heap& heap_;
  std::string text_;
  bool untrusted_ = false;
  int depth_ = 0;
};

// None, bools and numbers in the words of JSON.
std::string JsonScalar(const Value& value) {
  if (value.is(Kind::kNone)) return "null";
  if (value.is(Kind::kBool)) return value.boolean() ? "true" : "false";
  if (!value.is(Kind::kFloat) || std::isfinite(value.real())) return ScalarText(value);
  if (std::isnan(value.real())) return "NaN";
  return value.real() > 0 ? "Infinity" : "-Infinity";
}

Status JsonWriter::Write(const Value& value) {
  if (!heap_.Spend(1) || !heap_.Reserve(text_.size())) return heap_.status();
  switch (value.kind()) {
    case Kind::kString:
      WriteString(*value.str());
      return Status();
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat:
      text_ += JsonScalar(value);
      return Status();
    case Kind::kSequence: {
      const Sequence& sequence = *value.sequence();
      if (sequence.type == SequenceType::kList || sequence.is_tuple()) return WriteList(sequence);
      break;
    }
    case Kind::kDict:
      return WriteDict(*value.dict());
    default:
      break;
  }
  return InvalidArgument("Object of type {} is not JSON serializable", TypeName(value));
}

void JsonWriter::NewLine() {
  if (!style_.indent) return;
  text_ += '\n';
  for (int i = 0; i < depth_; ++i) text_ += *style_.indent;
}

Status JsonWriter::WriteList(const Sequence& list) {
  untrusted_ = untrusted_ || list.untrusted;
  if (list.size == 0) {
    text_ += "[]";
    return Status();
  }
  if (++depth_ > kMaxNesting) return ResourceExhausted("tojson of a value nested deeper than {} levels", kMaxNesting);
  text_ += '[';
  for (size_t i = 0; i < list.size; ++i) {
    if (i > 0) text_ += style_.item_separator;
    NewLine();
    ADIT_RETURN_IF_ERROR(Write(list.items[i]));
  }
  --depth_;
  NewLine();
  text_ += ']';
  return Status();
}

Result<std::vector<DictEntry>> JsonWriter::OrderedEntries(const Dict& dict) {
  std::vector<DictEntry> entries(dict.entries, dict.entries + dict.size);
  if (!style_.sort_keys) return entries;
  std::vector<Keyed> keyed;
  for (const DictEntry& entry : entries) keyed.push_back({entry.key, entry.value});
  ADIT_RETURN_IF_ERROR(SortByKey(keyed, false, heap_));
  for (size_t i = 0; i < keyed.size(); ++i) entries[i] = {keyed[i].key, keyed[i].item};
  return entries;
}

Status JsonWriter::WriteDict(const Dict& dict) {
  untrusted_ = untrusted_ || dict.untrusted;
  if (dict.size == 0) {
    text_ += "{}";
    return Status();
  }
  if (++depth_ > kMaxNesting) return ResourceExhausted("tojson of a value nested deeper than {} levels", kMaxNesting);
  ADIT_ASSIGN_OR_RETURN(const std::vector<DictEntry> entries, OrderedEntries(dict));
  text_ += '{';
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) text_ += style_.item_separator;
    NewLine();
    ADIT_RETURN_IF_ERROR(WriteKey(entries[i].key));
    text_ += style_.key_separator;
    ADIT_RETURN_IF_ERROR(Write(entries[i].value));
  }
  --depth_;
  NewLine();
  text_ += '}';
  return Status();
}

Status JsonWriter::WriteKey(const Value& key) {
  if (key.is(Kind::kString)) {
    WriteString(*key.str());
    return Status();
  }
  if (!key.is(Kind::kNone) && !key.is_number()) {
    return InvalidArgument("keys must be str, int, float, bool or None, not {}", TypeName(key));
  }
  text_ += fmt::format("\"{}\"", JsonScalar(key));
  return Status();
}

void JsonWriter::WriteString(const Str& str) {
  untrusted_ = untrusted_ || AnyUntrusted(str);
  text_ += '"';
  std::string_view rest = str.view();
  while (!rest.empty()) {
    size_t plain = 0;
    while (plain < rest.size() && rest[plain] != '"' && rest[plain] != '\\' &&
           static_cast<uint8_t>(rest[plain]) >= 0x20 &&
           (!style_.ensure_ascii || static_cast<uint8_t>(rest[plain]) < 0x7F)) {
      ++plain;
    }
    text_ += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const Utf8Char next = DecodeUtf8(rest);
    WriteEscaped(next.code_point);
    rest.remove_prefix(next.length);
  }
  text_ += '"';
}

void JsonWriter::WriteEscaped(char32_t c) {
  constexpr std::string_view kChars = "\"\\\n\r\t\f\b";
  constexpr std::string_view kLetters = "\"\\nrtfb";
  const size_t index = c < 0x80 ? kChars.find(static_cast<char>(c)) : std::string_view::npos;
  if (index != std::string_view::npos) {
    text_ += '\\';
    text_ += kLetters[index];
  } else if (c == 0x7F) {
    text_ += '\x7F';
  } else if (c < 0x10000) {
    text_ += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
  } else {
    const uint32_t offset = static_cast<uint32_t>(c) - 0x10000;
    text_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (offset >> 10), 0xDC00 + (offset & 0x3FF));
  }
}

}  // namespace

Result<const Str*> ToJson(const Value& value, const JsonStyle& style, Heap& heap) {
  JsonWriter writer(style, heap);
  ADIT_RETURN_IF_ERROR(writer.Write(value));
  if (!heap.Reserve(writer.text().size())) return heap.status();
  return NewStr(heap, writer.text(), style.untrusted || writer.untrusted());
}

}  // namespace adit::chat
