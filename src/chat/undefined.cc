#include "chat/undefined.h"

#include <fmt/core.h>

#include "base/error.h"
#include "chat/text.h"
#include "chat/to_text.h"

namespace adit::chat {
namespace {

std::string DescribeElement(const Value& name) {
  if (name.is_number() || name.is(Kind::kNone)) return ScalarText(name);
  return fmt::format("of type '{}'", TypeName(name));
}

}  // namespace

Value UndefinedName(Heap& heap, const Str* name) {
  auto* undefined = heap.New<Undefined>();
  undefined->name = name;
  return undefined;
}

Value UndefinedMember(Heap& heap, const Value& object, const Value& name) {
  auto* undefined = heap.New<Undefined>();
  undefined->object = object;
  undefined->name = name;
  return undefined;
}

Value UndefinedBecause(Heap& heap, std::string_view hint) {
  auto* undefined = heap.New<Undefined>();
  undefined->hint = NewStr(heap, hint, false);
  return undefined;
}

Status UndefinedError(const Value& undefined) {
  const Undefined& reason = *undefined.undefined();
  if (reason.hint != nullptr) return InvalidArgument("{}", reason.hint->view());
  const bool has_text_name = reason.name.is(Kind::kString);
  if (reason.object.is_missing()) {
    return InvalidArgument("{} is undefined", has_text_name ? Quote(reason.name.str()->view()) : "a value");
  }
  const std::string type = DescribeType(reason.object);
  if (!has_text_name) return InvalidArgument("{} has no element {}", type, DescribeElement(reason.name));
  return InvalidArgument("'{}' has no attribute {}", type, Quote(reason.name.str()->view()));
}

std::string DescribeType(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return "None";
    case Kind::kNamespace:
    case Kind::kCycler:
    case Kind::kJoiner:
      return fmt::format("jinja2.utils.{} object", TypeName(value));
    case Kind::kMacro:
    case Kind::kLoop:
      return fmt::format("jinja2.runtime.{} object", TypeName(value));
    default:
      return fmt::format("{} object", TypeName(value));
  }
}

}  // namespace adit::chat
