#include "cli/printable.h"

#include <fmt/core.h>

#include "base/utf8.h"

namespace adit::cli {
namespace {

constexpr char32_t kDeleteCharacter = 0x7f;
constexpr char32_t kC1End = 0x9f;

bool IsControl(char32_t c) { return c < 0x20 || (c >= kDeleteCharacter && c <= kC1End); }

void AppendVisible(char32_t control, std::string& out) {
  if (control < 0x20) {
    out += '^';
    out += static_cast<char>('@' + control);
  } else if (control == kDeleteCharacter) {
    out += "^?";
  } else {
    out += fmt::format("<U+{:04X}>", static_cast<uint32_t>(control));
  }
}

}  // namespace

std::string EscapeControls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char next = DecodeUtf8(text);
    text.remove_prefix(next.length);
    const char32_t c = next.code_point;
    if (IsControl(c) && c != '\n' && c != '\t') {
      AppendVisible(c, out);
    } else {
      AppendUtf8(c, out);
    }
  }
  return out;
}

std::string OneLine(std::string_view text, size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char next = DecodeUtf8(text);
    text.remove_prefix(next.length);
    const size_t before = out.size();
    if (next.code_point == '\n') {
      out += "\\n";
    } else if (next.code_point == '\t') {
      out += "\\t";
    } else if (IsControl(next.code_point)) {
      AppendVisible(next.code_point, out);
    } else {
      AppendUtf8(next.code_point, out);
    }
    if (max_bytes != 0 && out.size() > max_bytes) {
      out.resize(before);
      return out + "...";
    }
  }
  return out;
}

}  // namespace adit::cli
