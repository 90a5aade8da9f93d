#ifndef ADIT_CHAT_TO_TEXT_H_
#define ADIT_CHAT_TO_TEXT_H_

#include <string>
#include <string_view>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/text.h"
#include "chat/value.h"

// Python's str() and repr(). A string keeps its trust; numbers, booleans and None are trusted; the text of a container
// is untrusted as a whole if any of it came from the context. Functions and lazy sequences, whose text in Python is an
// address, are errors.
namespace adit::chat {

// How deep containers may hold containers where they are printed, compared or serialised.
inline constexpr int kMaxNesting = 256;

Status AppendText(const Value& value, StringBuilder& out, Heap& heap);
// Returns the string itself if the value is one.
Result<const Str*> ToText(const Value& value, Heap& heap);
Result<const Str*> ToRepr(const Value& value, Heap& heap);

// repr() of a string: 'it' or "it's". With `ascii`, of ascii().
std::string Quote(std::string_view text, bool ascii = false);

// Text of None, a bool or a number.
std::string ScalarText(const Value& value);

}  // namespace adit::chat

#endif  // ADIT_CHAT_TO_TEXT_H_
