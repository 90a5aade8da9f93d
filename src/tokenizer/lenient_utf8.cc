#include "tokenizer/lenient_utf8.h"

#include <cstdint>

#include "base/check.h"
#include "base/utf8.h"

namespace adit::tokenizer {
namespace {

constexpr char32_t kMaxCodePoint = 0x10FFFF;

size_t AnnouncedLength(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC0) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF8 ? 4 : 0;
}

bool IsSurrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

}  // namespace

LenientChar DecodeLenient(std::string_view text) {
  ADIT_DCHECK(!text.empty());
  constexpr LenientChar kInvalid = {kReplacementCharacter, 1};
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = AnnouncedLength(lead);
  if (length == 1) return {lead, 1};
  if (length == 0 || length > text.size()) return kInvalid;
  char32_t code_point = lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xC0) != 0x80) return kInvalid;
    code_point = code_point << 6 | (byte & 0x3F);
  }
  if (code_point > kMaxCodePoint) return kInvalid;
  return {code_point, length};
}

std::string RewriteLenient(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const LenientChar c = DecodeLenient(text);
    if (IsSurrogate(c.code_point)) {
      out.append(text.substr(0, c.length));
    } else {
      AppendUtf8(c.code_point, out);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace adit::tokenizer
