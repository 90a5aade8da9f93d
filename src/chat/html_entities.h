#ifndef ADIT_CHAT_HTML_ENTITIES_H_
#define ADIT_CHAT_HTML_ENTITIES_H_

#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::chat {

// Replaces character references, &#8364; and &lt; alike. Knows the named references of HTML 2 and some more;
// InvalidArgument for another name between & and ;, whose character it cannot tell.
Status UnescapeHtml(std::string_view text, std::string* out);

}  // namespace adit::chat

#endif  // ADIT_CHAT_HTML_ENTITIES_H_
