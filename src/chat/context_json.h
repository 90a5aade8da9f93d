#ifndef ADIT_CHAT_CONTEXT_JSON_H_
#define ADIT_CHAT_CONTEXT_JSON_H_

#include <string_view>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/value.h"

namespace adit::chat {

// Reads the variables of a render: a JSON object. Strings, keys included, are untrusted, except the values of the
// object itself. An integer beyond 64 bits keeps its digits (Kind::kBigInt); of equal keys the last counts.
// InvalidArgument for text that is no JSON object, ResourceExhausted for one nested deeper than `max_depth`.
Result<const Dict*> ParseContext(std::string_view json, int max_depth, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_CONTEXT_JSON_H_
