#include "chat/builtin_args.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "chat/number.h"
#include "chat/string_ops.h"
#include "chat/text.h"
#include "chat/to_text.h"

namespace adit::chat {
namespace {

Value PathPart(Evaluator& eval, const Str& text, size_t begin, size_t end) {
  const std::string_view part = text.view().substr(begin, end - begin);
  const bool is_index = !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  bool overflow = false;
  const std::optional<int64_t> index = is_index ? ParseInt(part, 10, &overflow) : std::nullopt;
  if (index) return Value::Int(*index);
  return NewSub(eval.heap(), text, begin, end);
}

}  // namespace

Result<int64_t> IntArg(const Args& args, size_t index, int64_t fallback, std::string_view name) {
  if (!args.has(index)) return fallback;
  if (args[index].is_integral()) return args[index].integer();
  return InvalidArgument("the argument '{}' must be an integer, not '{}'", name, TypeName(args[index]));
}

Result<const Str*> StrArg(const Args& args, size_t index, std::string_view name) {
  if (!args.has(index) || args[index].is(Kind::kNone)) return nullptr;
  if (args[index].is(Kind::kString)) return args[index].str();
  return InvalidArgument("the argument '{}' must be a string, not '{}'", name, TypeName(args[index]));
}

const Str* Literal(Evaluator& eval, std::string_view text) { return BorrowStr(eval.heap(), text, false); }

Result<const Str*> SoftStr(Evaluator& eval, const Value& value) { return ToText(value, eval.heap()); }

Value ListOfStrings(Evaluator& eval, const std::vector<Str>& pieces, bool markup) {
  Heap& heap = eval.heap();
  Value* items = heap.NewArray<Value>(pieces.size());
  Str* strs = heap.NewArray<Str>(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    strs[i] = pieces[i];
    strs[i].markup = markup;
    items[i] = &strs[i];
  }
  heap.Spend(static_cast<int64_t>(pieces.size()));
  return BorrowSequence(heap, SequenceType::kList, {items, pieces.size()});
}

AttributePath AttributePath::Parse(Evaluator& eval, const Value& attribute) {
  AttributePath path;
  if (attribute.is_missing() || attribute.is(Kind::kNone)) return path;
  if (!attribute.is(Kind::kString)) {
    path.parts_.push_back(attribute);
    return path;
  }
  const Str& text = *attribute.str();
  size_t begin = 0;
  for (size_t i = 0; i <= text.size; ++i) {
    if (i < text.size && text.data[i] != '.') continue;
    path.parts_.push_back(PathPart(eval, text, begin, i));
    begin = i + 1;
  }
  return path;
}

Result<Value> AttributePath::Get(Evaluator& eval, const Value& item, const Value& fallback) const {
  if (!eval.heap().Spend(1)) return eval.heap().status();
  Value value = item;
  for (const Value& part : parts_) {
    ADIT_ASSIGN_OR_RETURN(value, eval.GetItem(value, part));
    if (value.is(Kind::kUndefined) && !fallback.is_missing() && !fallback.is(Kind::kNone)) value = fallback;
  }
  return value;
}

Value IgnoreCase(Evaluator& eval, const Value& value) {
  return value.is(Kind::kString) ? Value(ChangeCase(*value.str(), LetterCase::kLower, eval.heap())) : value;
}

}  // namespace adit::chat
