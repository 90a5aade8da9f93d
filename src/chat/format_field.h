#ifndef ADIT_CHAT_FORMAT_FIELD_H_
#define ADIT_CHAT_FORMAT_FIELD_H_

#include "adit/status.h"
#include "chat/builtin.h"

namespace adit::chat {

// format.format(*args, **kwargs): replacement fields {name.attr[key]!r:spec}. With `by_name`, format_map: fields have
// names only, found in the keywords.
Result<Value> FormatFields(Evaluator& eval, const Str& format, const CallArgs& args, bool by_name);

}  // namespace adit::chat

#endif  // ADIT_CHAT_FORMAT_FIELD_H_
