#ifndef ADIT_CHAT_UNDEFINED_H_
#define ADIT_CHAT_UNDEFINED_H_

#include <string>
#include <string_view>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/value.h"

namespace adit::chat {

// No variable of this name.
Value UndefinedName(Heap& heap, const Str* name);
// `object` has no attribute or element `name`.
Value UndefinedMember(Heap& heap, const Value& object, const Value& name);
// Undefined for a reason of its own. The text is copied.
Value UndefinedBecause(Heap& heap, std::string_view hint);

// InvalidArgument that says what is undefined: the error of whoever computes with it.
Status UndefinedError(const Value& undefined);

// The type of a value in such messages: "dict object", "None".
std::string DescribeType(const Value& value);

}  // namespace adit::chat

#endif  // ADIT_CHAT_UNDEFINED_H_
