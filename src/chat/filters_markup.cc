#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/builtin_args.h"
#include "chat/html_entities.h"
#include "chat/json_text.h"
#include "chat/operators.h"
#include "chat/string_ops.h"
#include "chat/text.h"
#include "chat/to_text.h"
#include "chat/unicode.h"

// Filters to and from other notations: HTML, URLs and JSON.
namespace adit::chat {
namespace {

Result<Value> Escape(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  return Value(EscapeHtml(*text, eval.heap()));
}

Result<Value> ForceEscape(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  return Value(EscapeHtml(*WithMarkup(*text, false, eval.heap()), eval.heap()));
}

Result<Value> Safe(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  return Value(WithMarkup(*text, true, eval.heap()));
}

// Without the stretches from each `open` to the next `close`.
std::string WithoutStretches(std::string_view text, std::string_view open, std::string_view close) {
  std::string kept;
  while (true) {
    const size_t begin = text.find(open);
    const size_t end = begin == std::string_view::npos ? begin : text.find(close, begin);
    if (end == std::string_view::npos) break;
    kept += text.substr(0, begin);
    text.remove_prefix(end + close.size());
  }
  kept += text;
  return kept;
}

Result<Value> StripTags(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  eval.heap().Spend(static_cast<int64_t>(text->size / 16));
  const std::string plain = WithoutStretches(WithoutStretches(text->view(), "<!--", "-->"), "<", ">");
  const Str* whole = NewStr(eval.heap(), plain, false);
  std::string joined;
  for (const Str& word : Split(*whole, nullptr, -1, false, eval.heap())) {
    if (!joined.empty()) joined += ' ';
    joined += word.view();
  }
  std::string unescaped;
  ADIT_RETURN_IF_ERROR(UnescapeHtml(joined, &unescaped));
  return Value(NewStr(eval.heap(), unescaped, AnyUntrusted(*text)));
}

// Percent-encodes all but letters, digits, _ . - ~ and the `safe` characters.
std::string UrlQuote(std::string_view text, std::string_view safe, bool plus_for_space) {
  std::string quoted;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    const bool plain = byte < 0x80 && (IsAlpha(byte) || IsDecimal(byte));
    if (plain || std::string_view("_.-~").find(c) != std::string_view::npos || safe.find(c) != std::string_view::npos) {
      quoted += c;
    } else if (plus_for_space && c == ' ') {
      quoted += '+';
    } else {
      quoted += fmt::format("%{:02X}", byte);
    }
  }
  return quoted;
}

Result<Value> UrlEncodePairs(Evaluator& eval, const Value& pairs) {
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(pairs, eval.heap()));
  std::string query;
  bool untrusted = false;
  for (const Value& item : items) {
    ADIT_ASSIGN_OR_RETURN(const std::span<const Value> pair, ItemsOf(item, eval.heap()));
    if (pair.size() != 2) return InvalidArgument("filter 'urlencode' takes pairs, not {} values", pair.size());
    ADIT_ASSIGN_OR_RETURN(const Str* key, SoftStr(eval, pair[0]));
    ADIT_ASSIGN_OR_RETURN(const Str* value, SoftStr(eval, pair[1]));
    untrusted = untrusted || AnyUntrusted(*key) || AnyUntrusted(*value);
    if (!query.empty()) query += '&';
    query += UrlQuote(key->view(), "", true) + "=" + UrlQuote(value->view(), "", true);
    if (!eval.heap().Reserve(query.size())) return eval.heap().status();
  }
  return Value(NewStr(eval.heap(), query, untrusted));
}

Value ItemPairs(Evaluator& eval, const Dict& dict) {
  Value* pairs = eval.heap().NewArray<Value>(dict.size);
  for (size_t i = 0; i < dict.size; ++i) {
    const Value pair[2] = {dict.entries[i].key, dict.entries[i].value};
    pairs[i] = NewSequence(eval.heap(), SequenceType::kTuple, pair);
  }
  return BorrowSequence(eval.heap(), SequenceType::kList, {pairs, dict.size});
}

Result<Value> UrlEncode(Evaluator& eval, const Value& self, const Args&) {
  if (self.is(Kind::kDict)) return UrlEncodePairs(eval, ItemPairs(eval, *self.dict()));
  if (self.is(Kind::kSequence) || self.is(Kind::kUndefined)) return UrlEncodePairs(eval, self);
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  return Value(NewStr(eval.heap(), UrlQuote(text->view(), "/", false), AnyUntrusted(*text)));
}

bool BreaksAttribute(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '/' || c == '>' || c == '='; }

Result<Value> XmlAttr(Evaluator& eval, const Value& self, const Args& args) {
  if (!self.is(Kind::kDict)) return InvalidArgument("filter 'xmlattr' takes a dict, not '{}'", TypeName(self));
  StringBuilder builder(eval.heap());
  bool needs_space = BoolArg(args, 0, true);
  for (const DictEntry& entry : self.dict()->span()) {
    if (entry.value.is(Kind::kNone) || entry.value.is(Kind::kUndefined)) continue;
    if (!entry.key.is(Kind::kString)) return InvalidArgument("filter 'xmlattr': a key is not a string");
    const Str& key = *entry.key.str();
    if (std::ranges::any_of(key.view(), BreaksAttribute)) {
      return InvalidArgument("Invalid character in attribute name: {}", Quote(key.view()));
    }
    ADIT_ASSIGN_OR_RETURN(const Str* value, SoftStr(eval, entry.value));
    if (needs_space) builder.Append(" ", false);
    needs_space = true;
    builder.Append(*EscapeHtml(key, eval.heap()));
    builder.Append("=\"", false);
    builder.Append(*EscapeHtml(*value, eval.heap()));
    builder.Append("\"", false);
  }
  return Value(builder.Finish());
}

Status ReadIndent(Evaluator& eval, const Value& indent, JsonStyle* style) {
  if (indent.is_missing() || indent.is(Kind::kNone)) return Status();
  style->item_separator.assign(1, ',');
  if (indent.is(Kind::kString)) {
    style->indent = std::string(indent.str()->view());
    style->untrusted = AnyUntrusted(*indent.str());
    return Status();
  }
  if (!indent.is_integral()) return InvalidArgument("tojson: indent must be an integer, not '{}'", TypeName(indent));
  const auto width = static_cast<size_t>(std::max<int64_t>(indent.integer(), 0));
  if (!eval.heap().Reserve(width)) return eval.heap().status();
  style->indent = std::string(width, ' ');
  return Status();
}

Status ReadSeparators(Evaluator& eval, const Value& separators, JsonStyle* style) {
  if (separators.is_missing() || separators.is(Kind::kNone)) return Status();
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(separators, eval.heap()));
  if (items.size() != 2 || !items[0].is(Kind::kString) || !items[1].is(Kind::kString)) {
    return InvalidArgument("tojson: separators must be two strings");
  }
  style->item_separator = std::string(items[0].str()->view());
  style->key_separator = std::string(items[1].str()->view());
  style->untrusted = style->untrusted || AnyUntrusted(*items[0].str()) || AnyUntrusted(*items[1].str());
  return Status();
}

// Python's json.dumps as transformers binds it, not the escaping filter of Jinja.
Result<Value> ToJsonFilter(Evaluator& eval, const Value& self, const Args& args) {
  JsonStyle style;
  style.ensure_ascii = BoolArg(args, 0, false);
  style.sort_keys = BoolArg(args, 3, false);
  ADIT_RETURN_IF_ERROR(ReadIndent(eval, args[1], &style));
  ADIT_RETURN_IF_ERROR(ReadSeparators(eval, args[2], &style));
  ADIT_ASSIGN_OR_RETURN(const Str* json, ToJson(self, style, eval.heap()));
  return Value(json);
}

constexpr Builtin kMarkupFilters[] = {
    {"e", "", 0, Escape},
    {"escape", "", 0, Escape},
    {"forceescape", "", 0, ForceEscape},
    {"safe", "", 0, Safe},
    {"striptags", "", 0, StripTags},
    {"urlencode", "", 0, UrlEncode},
    {"xmlattr", "autospace", 0, XmlAttr},
    {"tojson", "ensure_ascii,indent,separators,sort_keys", 0, ToJsonFilter},
};

}  // namespace

std::span<const Builtin> MarkupFilters() { return kMarkupFilters; }

}  // namespace adit::chat
