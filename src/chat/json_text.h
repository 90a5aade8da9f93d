#ifndef ADIT_CHAT_JSON_TEXT_H_
#define ADIT_CHAT_JSON_TEXT_H_

#include <optional>
#include <string>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/value.h"

namespace adit::chat {

// The arguments of Python's json.dumps.
struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;  // for each level; empty keeps all on one line
  std::string item_separator = ", ";  // "," with indent
  std::string key_separator = ": ";
  bool untrusted = false;  // the style itself comes from the context
};

// json.dumps(value): a string that is untrusted as a whole if any of the value came from the context. InvalidArgument
// for what JSON does not have.
Result<const Str*> ToJson(const Value& value, const JsonStyle& style, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_JSON_TEXT_H_
