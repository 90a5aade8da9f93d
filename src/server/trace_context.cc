#include "server/trace_context.h"

#include <algorithm>

namespace adit::server {
namespace {

constexpr size_t kVersionDigits = 2;
constexpr size_t kTraceDigits = 32;
constexpr size_t kSpanDigits = 16;
constexpr size_t kFlagDigits = 2;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '0'; });
}

// Takes `digits` hexadecimal digits, and the dash before the next part; empty when they are not there.
std::string_view TakePart(std::string_view& rest, size_t digits) {
  if (rest.size() < digits || !IsHex(rest.substr(0, digits))) return {};
  const std::string_view part = rest.substr(0, digits);
  rest.remove_prefix(digits);
  if (!rest.empty() && rest.front() != '-') return {};
  if (!rest.empty()) rest.remove_prefix(1);
  return part;
}

}  // namespace

TraceContext ParseTraceParent(std::string_view header) {
  std::string_view rest = header;
  const std::string_view version = TakePart(rest, kVersionDigits);
  const std::string_view trace = TakePart(rest, kTraceDigits);
  const std::string_view parent = TakePart(rest, kSpanDigits);
  const bool ends_with_flags = rest.size() == kFlagDigits;
  const std::string_view flags = TakePart(rest, kFlagDigits);
  if (version.empty() || version == "ff" || trace.empty() || parent.empty() || flags.empty()) return {};
  if (IsZero(trace) || IsZero(parent)) return {};
  // Later versions may have more behind the flags.
  if (version == "00" && !ends_with_flags) return {};
  // The last bit of the flags.
  const char last = flags.back();
  const int digit = last <= '9' ? last - '0' : last - 'a' + 10;
  return {.trace_id = std::string(trace), .parent_id = std::string(parent), .sampled = digit % 2 == 1};
}

}  // namespace adit::server
