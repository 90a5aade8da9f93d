#include "base/utf8.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"

namespace adit {
namespace {

// What a first byte announces: the length of the character and the range of its second byte. Length 0: no first byte.
struct LeadByte {
  uint8_t length;
  uint8_t second_min;
  uint8_t second_max;
};

LeadByte ClassifyLead(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// Number of bytes at the start of `text` that agree with its first byte's announcement; at most lead.length.
size_t MatchingBytes(std::string_view text, LeadByte lead) {
  const size_t end = std::min<size_t>(lead.length, text.size());
  size_t n = 1;
  while (n < end) {
    const auto byte = static_cast<uint8_t>(text[n]);
    const uint8_t low = n == 1 ? lead.second_min : 0x80;
    const uint8_t high = n == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) break;
    ++n;
  }
  return n;
}

}  // namespace

Utf8Char DecodeUtf8(std::string_view text) {
  ADIT_DCHECK(!text.empty());
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {first, 1, true};
  const LeadByte lead = ClassifyLead(first);
  if (lead.length == 0) return {kReplacementCharacter, 1, false};
  const size_t matching = MatchingBytes(text, lead);
  if (matching < lead.length) return {kReplacementCharacter, matching, false};
  char32_t code_point = first & (0x7F >> lead.length);
  for (size_t i = 1; i < lead.length; ++i) code_point = code_point << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  return {code_point, lead.length, true};
}

void AppendUtf8(char32_t code_point, std::string& out) {
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (surrogate || code_point > 0x10FFFF) code_point = kReplacementCharacter;
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
    return;
  }
  if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      out += static_cast<char>(0xE0 | code_point >> 12);
    } else {
      out += static_cast<char>(0xF0 | code_point >> 18);
      out += static_cast<char>(0x80 | (code_point >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
  }
  out += static_cast<char>(0x80 | (code_point & 0x3F));
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    if (!c.valid) return false;
    text.remove_prefix(c.length);
  }
  return true;
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    if (c.valid) {
      out.append(text.substr(0, c.length));
    } else {
      AppendUtf8(kReplacementCharacter, out);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

size_t IncompleteUtf8Suffix(std::string_view text) {
  for (size_t n = 1; n <= std::min<size_t>(3, text.size()); ++n) {
    const std::string_view suffix = text.substr(text.size() - n);
    const auto first = static_cast<uint8_t>(suffix[0]);
    if ((first & 0xC0) == 0x80) continue;
    const LeadByte lead = ClassifyLead(first);
    return lead.length > n && MatchingBytes(suffix, lead) == n ? n : 0;
  }
  return 0;
}

}  // namespace adit
