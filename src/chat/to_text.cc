#include "chat/to_text.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/ast.h"
#include "chat/number.h"
#include "chat/unicode.h"

namespace adit::chat {
namespace {

// Writes repr() of one value, containers and all, and notes whether any of it is untrusted.
class ReprWriter {
 public:
  explicit ReprWriter(Heap& heap) : heap_(heap) {}

  Status Write(const Value& value);
  const std::string& text() const { return text_; }
  bool untrusted() const { return untrusted_; }

 private:
  Status WriteSequence(const Sequence& sequence);
  Status WriteItems(const Sequence& sequence);
  Status WriteRange(const Sequence& range);
  Status WriteDict(std::span<const DictEntry> entries);
  Status WriteNamespace(const Namespace& ns);
  Status WritePair(const Value& key, const Value& value, bool first);

  Heap& heap_;
  std::string text_;
  bool untrusted_ = false;
  int depth_ = 0;
};

Status ReprWriter::Write(const Value& value) {
  if (!heap_.Spend(1) || !heap_.Reserve(text_.size())) return heap_.status();
  if (depth_ >= kMaxNesting) return ResourceExhausted("a value nested deeper than {} levels has no text", kMaxNesting);
  ++depth_;
  Status status;
  switch (value.kind()) {
    case Kind::kString: {
      const Str& str = *value.str();
      untrusted_ = untrusted_ || AnyUntrusted(str);
      text_ += str.markup ? fmt::format("Markup({})", Quote(str.view())) : Quote(str.view());
      break;
    }
    case Kind::kUndefined:
      text_ += "Undefined";
      break;
    case Kind::kSequence:
      status = WriteSequence(*value.sequence());
      break;
    case Kind::kDict:
      untrusted_ = untrusted_ || value.dict()->untrusted;
      status = WriteDict(value.dict()->span());
      break;
    case Kind::kNamespace:
      status = WriteNamespace(*value.name_space());
      break;
    case Kind::kMacro:
      text_ += value.macro()->def->name == nullptr ? "<Macro anonymous>"
                                                   : fmt::format("<Macro {}>", Quote(value.macro()->def->name->view()));
      break;
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat:
      text_ += ScalarText(value);
      break;
    default:
      status = InvalidArgument("a value of type '{}' has no text", TypeName(value));
  }
  --depth_;
  return status;
}

Status ReprWriter::WriteSequence(const Sequence& sequence) {
  untrusted_ = untrusted_ || sequence.untrusted;
  switch (sequence.type) {
    case SequenceType::kIterator:
      return InvalidArgument("a lazy sequence has no text; the filter `list` makes it a list");
    case SequenceType::kRange:
      return WriteRange(sequence);
    case SequenceType::kKeys:
    case SequenceType::kValues:
    case SequenceType::kItems: {
      text_ += TypeName(&sequence);
      text_ += "([";
      ADIT_RETURN_IF_ERROR(WriteItems(sequence));
      text_ += "])";
      return Status();
    }
    case SequenceType::kTuple:
    case SequenceType::kGroup: {
      text_ += '(';
      ADIT_RETURN_IF_ERROR(WriteItems(sequence));
      text_ += sequence.size == 1 ? ",)" : ")";
      return Status();
    }
    case SequenceType::kList: {
      text_ += '[';
      ADIT_RETURN_IF_ERROR(WriteItems(sequence));
      text_ += ']';
      return Status();
    }
  }
  return Status();
}

Status ReprWriter::WriteItems(const Sequence& sequence) {
  for (size_t i = 0; i < sequence.size; ++i) {
    if (i > 0) text_ += ", ";
    ADIT_RETURN_IF_ERROR(Write(sequence.items[i]));
  }
  return Status();
}

Status ReprWriter::WriteRange(const Sequence& range) {
  text_ += range.step == 1 ? fmt::format("range({}, {})", range.start, range.stop)
                           : fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
  return Status();
}

Status ReprWriter::WriteDict(std::span<const DictEntry> entries) {
  text_ += '{';
  for (size_t i = 0; i < entries.size(); ++i) ADIT_RETURN_IF_ERROR(WritePair(entries[i].key, entries[i].value, i == 0));
  text_ += '}';
  return Status();
}

Status ReprWriter::WriteNamespace(const Namespace& ns) {
  text_ += "<Namespace {";
  for (size_t i = 0; i < ns.size; ++i) {
    ADIT_RETURN_IF_ERROR(WritePair(ns.entries[i].name, ns.entries[i].value, i == 0));
  }
  text_ += "}>";
  return Status();
}

Status ReprWriter::WritePair(const Value& key, const Value& value, bool first) {
  if (!first) text_ += ", ";
  ADIT_RETURN_IF_ERROR(Write(key));
  text_ += ": ";
  return Write(value);
}

void AppendEscaped(char32_t c, bool ascii, std::string& out) {
  switch (c) {
    case U'\n':
      out += "\\n";
      return;
    case U'\r':
      out += "\\r";
      return;
    case U'\t':
      out += "\\t";
      return;
    case U'\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  const auto number = static_cast<uint32_t>(c);
  if (IsPrintable(c) && (!ascii || c < 0x80)) {
    AppendUtf8(c, out);
  } else if (c < 0x100) {
    out += fmt::format("\\x{:02x}", number);
  } else if (c < 0x10000) {
    out += fmt::format("\\u{:04x}", number);
  } else {
    out += fmt::format("\\U{:08x}", number);
  }
}

}  // namespace

std::string Quote(std::string_view text, bool ascii) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const Utf8Char next = DecodeUtf8(text);
    if (next.code_point == static_cast<char32_t>(quote)) {
      out += '\\';
      out += quote;
    } else {
      AppendEscaped(next.code_point, ascii, out);
    }
    text.remove_prefix(next.length);
  }
  out += quote;
  return out;
}

std::string ScalarText(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.boolean() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(value.integer());
    case Kind::kBigInt:
      return std::string(value.str()->view());
    case Kind::kFloat:
      return FloatRepr(value.real());
    default:
      return "";
  }
}

Status AppendText(const Value& value, StringBuilder& out, Heap& heap) {
  switch (value.kind()) {
    case Kind::kString:
      out.Append(*value.str());
      return Status();
    case Kind::kUndefined:
      return Status();
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat:
      out.Append(ScalarText(value), false);
      return Status();
    default: {
      ReprWriter writer(heap);
      ADIT_RETURN_IF_ERROR(writer.Write(value));
      out.Append(writer.text(), writer.untrusted());
      return Status();
    }
  }
}

Result<const Str*> ToText(const Value& value, Heap& heap) {
  if (value.is(Kind::kString)) return value.str();
  StringBuilder builder(heap);
  ADIT_RETURN_IF_ERROR(AppendText(value, builder, heap));
  return builder.Finish();
}

Result<const Str*> ToRepr(const Value& value, Heap& heap) {
  ReprWriter writer(heap);
  ADIT_RETURN_IF_ERROR(writer.Write(value));
  return NewStr(heap, writer.text(), writer.untrusted());
}

}  // namespace adit::chat
