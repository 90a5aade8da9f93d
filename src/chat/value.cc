#include "chat/value.h"

namespace adit::chat {
namespace {

std::string_view SequenceTypeName(SequenceType type) {
  switch (type) {
    case SequenceType::kList:
      return "list";
    case SequenceType::kTuple:
      return "tuple";
    case SequenceType::kGroup:
      return "_GroupTuple";
    case SequenceType::kKeys:
      return "dict_keys";
    case SequenceType::kValues:
      return "dict_values";
    case SequenceType::kItems:
      return "dict_items";
    case SequenceType::kRange:
      return "range";
    case SequenceType::kIterator:
      return "generator";
  }
  return "";
}

}  // namespace

std::string_view TypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
      return "missing";
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
    case Kind::kBigInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return value.str()->markup ? "Markup" : "str";
    case Kind::kSequence:
      return SequenceTypeName(value.sequence()->type);
    case Kind::kDict:
      return "dict";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kMacro:
      return "Macro";
    case Kind::kFunction:
      return "function";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
  }
  return "";
}

bool IsTrue(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.integer() != 0;
    case Kind::kFloat:
      return value.real() != 0;
    case Kind::kString:
      return value.str()->size != 0;
    case Kind::kSequence:
      return !value.sequence()->has_length() || value.sequence()->size != 0;
    case Kind::kDict:
      return value.dict()->size != 0;
    case Kind::kBigInt:
    case Kind::kNamespace:
    case Kind::kMacro:
    case Kind::kFunction:
    case Kind::kLoop:
    case Kind::kCycler:
    case Kind::kJoiner:
      return true;
  }
  return false;
}

}  // namespace adit::chat
