#include "base/utf8.h"
#include "chat/string_ops.h"
#include "chat/text.h"
#include "chat/unicode.h"

namespace adit::chat {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kSmallSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;

// Whether the char before or behind `pos`, those without case aside, is cased.
bool CasedBefore(std::string_view text, size_t pos) {
  while (pos > 0) {
    pos = PreviousChar(text, pos);
    const char32_t c = DecodeUtf8(text.substr(pos)).code_point;
    if (!IsCaseIgnorable(c)) return IsCased(c);
  }
  return false;
}

bool CasedAfter(std::string_view text, size_t pos) {
  while (pos < text.size()) {
    const Utf8Char next = DecodeUtf8(text.substr(pos));
    if (!IsCaseIgnorable(next.code_point)) return IsCased(next.code_point);
    pos += next.length;
  }
  return false;
}

// The lower case of the char at `pos`; a capital sigma at the end of a word has a form of its own.
CaseMapping LowerAt(std::string_view text, size_t pos, const Utf8Char& c) {
  if (c.code_point != kCapitalSigma) return ToLower(c.code_point);
  const bool is_final = CasedBefore(text, pos) && !CasedAfter(text, pos + c.length);
  return {{is_final ? kFinalSigma : kSmallSigma}, 1};
}

CaseMapping MapAt(std::string_view text, size_t pos, const Utf8Char& c, LetterCase letter_case, bool after_cased) {
  switch (letter_case) {
    case LetterCase::kLower:
      return LowerAt(text, pos, c);
    case LetterCase::kUpper:
      return ToUpper(c.code_point);
    case LetterCase::kTitle:
      return after_cased ? LowerAt(text, pos, c) : ToTitle(c.code_point);
    case LetterCase::kCapitalized:
      return pos == 0 ? ToTitle(c.code_point) : LowerAt(text, pos, c);
    case LetterCase::kSwapped:
      if (IsUpper(c.code_point)) return LowerAt(text, pos, c);
      return IsLower(c.code_point) ? ToUpper(c.code_point) : CaseMapping{{c.code_point}, 1};
    case LetterCase::kFolded:
      return ToFolded(c.code_point);
  }
  return {};
}

}  // namespace

const Str* ChangeCase(const Str& str, LetterCase letter_case, Heap& heap) {
  StringBuilder builder(heap);
  const std::string_view text = str.view();
  heap.Spend(static_cast<int64_t>(text.size() / 16));
  const char* const* cut = str.cuts;
  const char* const* cuts_end = str.cuts + str.num_cuts;
  bool untrusted = str.untrusted;
  bool after_cased = false;
  std::string mapped;  // of the present stretch of one trust
  for (size_t pos = 0; pos < text.size();) {
    if (cut != cuts_end && *cut == text.data() + pos) {
      builder.Append(mapped, untrusted);
      mapped.clear();
      untrusted = !untrusted;
      ++cut;
    }
    const Utf8Char c = DecodeUtf8(text.substr(pos));
    const CaseMapping mapping = MapAt(text, pos, c, letter_case, after_cased);
    for (const char32_t out : mapping.view()) AppendUtf8(out, mapped);
    if (letter_case == LetterCase::kTitle) after_cased = IsCased(c.code_point);
    pos += c.length;
  }
  builder.Append(mapped, untrusted);
  return WithMarkup(*builder.Finish(), str.markup, heap);
}

}  // namespace adit::chat
