#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "chat/evaluator.h"
#include "chat/undefined.h"

// What . and [] find, by the rules of Jinja's immutable sandbox: methods that change their object and attributes that
// begin with an underscore count as undefined.
namespace adit::chat {
namespace {

constexpr std::string_view kDictMutators[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view kListMutators[] = {"append", "clear",  "extend",  "insert",
                                              "pop",    "remove", "reverse", "sort"};
// Python has them; templates of models do not use them.
constexpr std::string_view kUnsupportedStringMethods[] = {"encode", "maketrans", "translate"};

template <size_t N>
bool IsOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::ranges::find(names, name) != std::end(names);
}

bool IsMutator(const Value& object, std::string_view name) {
  if (object.is(Kind::kDict)) return IsOneOf(name, kDictMutators);
  const bool is_list = object.is(Kind::kSequence) && object.sequence()->type == SequenceType::kList;
  return is_list && IsOneOf(name, kListMutators);
}

bool IsDunder(std::string_view name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

Value Unsafe(Heap& heap, const Value& object, std::string_view name) {
  return UndefinedBecause(heap,
                          fmt::format("access to attribute '{}' of '{}' object is unsafe", name, TypeName(object)));
}

Value SequenceAttribute(const Sequence& sequence, std::string_view name) {
  if (sequence.type == SequenceType::kGroup) {
    if (name == "grouper") return sequence.items[0];
    if (name == "list") return sequence.items[1];
  }
  if (sequence.type == SequenceType::kRange) {
    if (name == "start") return Value::Int(sequence.start);
    if (name == "stop") return Value::Int(sequence.stop);
    if (name == "step") return Value::Int(sequence.step);
  }
  return Value();
}

Value MacroAttribute(const ParsedTemplate& program, const MacroDef& def, std::string_view name, Heap& heap) {
  if (name == "name") return def.name == nullptr ? Value::None() : Value(def.name);
  if (name == "catch_kwargs") return Value::Bool(def.takes_kwargs);
  if (name == "catch_varargs") return Value::Bool(def.takes_varargs);
  if (name == "caller") return Value::Bool(def.takes_caller);
  if (name == "arguments") {
    Value* params = heap.NewArray<Value>(def.params.size());
    for (size_t i = 0; i < def.params.size(); ++i) params[i] = program.names[static_cast<size_t>(def.params[i].name)];
    return BorrowSequence(heap, SequenceType::kTuple, {params, def.params.size()});
  }
  return Value();
}

Value NumberAttribute(const Value& number, std::string_view name) {
  const bool is_float = number.is(Kind::kFloat);
  if (name == "real") return is_float ? number : Value::Int(number.integer());
  if (name == "imag") return is_float ? Value::Float(0) : Value::Int(0);
  if (is_float) return Value();
  if (name == "numerator") return Value::Int(number.integer());
  if (name == "denominator") return Value::Int(1);
  return Value();
}

// The item of a sequence or string at a place, from the end if negative; kMissing outside of it.
Value ItemAt(const Value& object, int64_t index, Heap& heap) {
  const bool is_string = object.is(Kind::kString);
  const int64_t length = is_string ? CountChars(*object.str()) : static_cast<int64_t>(object.sequence()->size);
  if (index < 0) index += length;
  if (index < 0 || index >= length) return Value();
  if (!is_string) return object.sequence()->At(static_cast<size_t>(index));
  const Str& str = *object.str();
  heap.Spend(static_cast<int64_t>(str.size / 64));
  const size_t begin = ByteOffset(str, index);
  return NewSub(heap, str, begin, begin + CharLength(str.data[begin]));
}

// object[index], kMissing where Python raises TypeError, IndexError or KeyError.
Value FindItem(const Value& object, const Value& index, Heap& heap) {
  if (object.is(Kind::kDict)) {
    if (!CheckHashable(index).ok()) return Value();
    const Value* value = FindKey(*object.dict(), index);
    return value == nullptr ? Value() : *value;
  }
  const bool has_items =
      object.is(Kind::kString) || (object.is(Kind::kSequence) && object.sequence()->is_subscriptable());
  return has_items && index.is_integral() ? ItemAt(object, index.integer(), heap) : Value();
}

}  // namespace

Result<Value> Evaluator::FindAttribute(const Value& object, const Str& name) {
  const std::string_view text = name.view();
  switch (object.kind()) {
    case Kind::kUndefined:
      return UndefinedError(object);
    case Kind::kNamespace: {
      const Value* value = FindName(*object.name_space(), text);
      if (value != nullptr && text.starts_with('_')) return Unsafe(heap_, object, text);
      return value == nullptr ? Value() : *value;
    }
    case Kind::kDict:
      // A dunder may be a key of the dict, which is harmless.
      if (IsDunder(text) && FindKey(*object.dict(), text) != nullptr) return Value();
      break;
    default:
      break;
  }
  if (IsDunder(text) || IsMutator(object, text)) return Unsafe(heap_, object, text);
  if (const Builtin* method = FindMethod(object, text)) {
    auto* function = heap_.New<Function>();
    function->builtin = method;
    function->self = object;
    return Value(function);
  }
  switch (object.kind()) {
    case Kind::kString:
      if (!IsOneOf(text, kUnsupportedStringMethods)) return Value();
      return UndefinedBecause(heap_, fmt::format("the method '{}' of strings is not supported", text));
    case Kind::kSequence:
      return SequenceAttribute(*object.sequence(), text);
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return NumberAttribute(object, text);
    case Kind::kMacro:
      return MacroAttribute(program_, *object.macro()->def, text, heap_);
    case Kind::kLoop:
      return LoopAttribute(*object.loop(), text);
    case Kind::kCycler: {
      const Cycler& cycler = *object.cycler();
      return text == "current" ? cycler.items[cycler.position] : Value();
    }
    default:
      return Value();
  }
}

Result<Value> Evaluator::GetAttr(const Value& object, const Str& name) {
  ADIT_ASSIGN_OR_RETURN(const Value attribute, FindAttribute(object, name));
  if (!attribute.is_missing()) return attribute;
  if (object.is(Kind::kDict)) {
    const Value* value = FindKey(*object.dict(), name.view());
    if (value != nullptr) return *value;
  }
  return UndefinedMember(heap_, object, &name);
}

Result<Value> Evaluator::GetItem(const Value& object, const Value& index) {
  if (object.is(Kind::kUndefined)) return UndefinedError(object);
  const Value item = FindItem(object, index, heap_);
  if (!item.is_missing()) return item;
  if (index.is(Kind::kString)) {
    ADIT_ASSIGN_OR_RETURN(const Value attribute, FindAttribute(object, *index.str()));
    if (!attribute.is_missing()) return attribute;
  }
  return UndefinedMember(heap_, object, index);
}

}  // namespace adit::chat
