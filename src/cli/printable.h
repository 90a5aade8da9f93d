#ifndef ADIT_CLI_PRINTABLE_H_
#define ADIT_CLI_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

// Text from models and files may hold what drives a terminal: move its cursor, set its title, fill its input. These
// functions make such characters visible: C0 controls and DEL in caret notation ("^[" for ESC), C1 controls, which some
// terminals obey too, as "<U+009B>". Bytes that are no UTF-8 become U+FFFD.
namespace adit::cli {

// Keeps line feeds and tabs.
std::string EscapeControls(std::string_view text);

// Most of a word or line that a message repeats.
inline constexpr size_t kMaxShownBytes = 60;

// For one line: line feeds and tabs become "\n" and "\t". Cut after max_bytes with "..." behind it; 0: not cut.
std::string OneLine(std::string_view text, size_t max_bytes = 0);

}  // namespace adit::cli

#endif  // ADIT_CLI_PRINTABLE_H_
