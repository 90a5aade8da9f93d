#ifndef ADIT_CHAT_LEXER_INTERNAL_H_
#define ADIT_CHAT_LEXER_INTERNAL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "chat/lexer.h"

namespace adit::chat {

// Reads the number at the start of `text` into the token; `size` is its length. A number after a dot is an integer:
// in a.0.1 there is no 0.1.
Status ScanNumber(std::string_view text, bool after_dot, Token* token, size_t* size);

// Resolves the escapes of a string literal: those of Python, except names of characters.
Status Unescape(std::string_view quoted, int line, std::string* text);

// Where the white space at the end of `text` begins, and where that at its start ends.
size_t StrippedEnd(std::string_view text);
size_t StrippedBegin(std::string_view text);

}  // namespace adit::chat

#endif  // ADIT_CHAT_LEXER_INTERNAL_H_
