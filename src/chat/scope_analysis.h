#ifndef ADIT_CHAT_SCOPE_ANALYSIS_H_
#define ADIT_CHAT_SCOPE_ANALYSIS_H_

#include "adit/status.h"
#include "chat/ast.h"

namespace adit::chat {

// Decides what Jinja decides when it compiles: which names of a block are undefined at its entry (Block), which special
// variables a macro takes (MacroDef), and whether a filter or test that does not exist is an error at once. It is, with
// line and name, except inside of an `if`, where it is one only when evaluated.
Status AnalyzeScopes(ParsedTemplate& parsed);

}  // namespace adit::chat

#endif  // ADIT_CHAT_SCOPE_ANALYSIS_H_
