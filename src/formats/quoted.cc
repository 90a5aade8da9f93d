#include "formats/quoted.h"

#include <fmt/core.h>

#include <algorithm>

namespace adit::formats {
namespace {

constexpr size_t kMaxQuotedBytes = 80;

bool IsPrintable(char c) { return c >= 0x20 && c <= 0x7e; }

}  // namespace

std::string Quoted(std::string_view name) {
  std::string out = "'";
  for (const char c : name.substr(0, kMaxQuotedBytes)) {
    if (IsPrintable(c)) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += name.size() > kMaxQuotedBytes ? "...'" : "'";
  return out;
}

bool IsPrintableAscii(std::string_view text) { return std::all_of(text.begin(), text.end(), IsPrintable); }

}  // namespace adit::formats
