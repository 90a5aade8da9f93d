#ifndef ADIT_CHAT_PARSER_H_
#define ADIT_CHAT_PARSER_H_

#include <memory>
#include <string_view>

#include "adit/status.h"
#include "chat/ast.h"

namespace adit::chat {

// Limits of what Parse accepts.
inline constexpr size_t kMaxTemplateBytes = size_t{4} << 20;
inline constexpr int kMaxParseDepth = 200;  // of expressions and of blocks inside each other

// Parses and analyses a whole template. InvalidArgument with line and cause; ResourceExhausted at a limit.
Result<std::unique_ptr<ParsedTemplate>> ParseTemplate(std::string_view source);

}  // namespace adit::chat

#endif  // ADIT_CHAT_PARSER_H_
