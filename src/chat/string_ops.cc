#include "chat/string_ops.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "chat/text.h"
#include "chat/unicode.h"

namespace adit::chat {
namespace {

// What Python takes as the end of a line; \r\n is one.
bool IsLineEnd(char32_t c) {
  return (c >= 0xA && c <= 0xD) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool IsStripped(char32_t c, const Str* chars) {
  if (chars == nullptr) return IsSpace(c);
  std::string encoded;
  AppendUtf8(c, encoded);
  return chars->view().find(encoded) != std::string_view::npos;
}

std::vector<Str> SplitAtSpaces(const Str& str, int64_t max_splits, Heap& heap) {
  std::vector<Str> pieces;
  const std::string_view text = str.view();
  size_t pos = 0;
  const auto skip = [&](bool spaces) {
    while (pos < text.size()) {
      const Utf8Char c = DecodeUtf8(text.substr(pos));
      if (IsSpace(c.code_point) != spaces) break;
      pos += c.length;
    }
  };
  skip(true);
  while (pos < text.size() && heap.Reserve(pieces.size() * sizeof(Str))) {
    const size_t begin = pos;
    if (max_splits >= 0 && static_cast<int64_t>(pieces.size()) == max_splits) {
      pieces.push_back(Sub(str, begin, text.size()));
      break;
    }
    skip(false);
    pieces.push_back(Sub(str, begin, pos));
    skip(true);
  }
  return pieces;
}

std::vector<Str> SplitAtSpacesFromRight(const Str& str, int64_t max_splits, Heap& heap) {
  std::vector<Str> pieces;
  const std::string_view text = str.view();
  size_t pos = text.size();
  const auto skip = [&](bool spaces) {
    while (pos > 0) {
      const size_t previous = PreviousChar(text, pos);
      if (IsSpace(DecodeUtf8(text.substr(previous)).code_point) != spaces) break;
      pos = previous;
    }
  };
  skip(true);
  while (pos > 0 && heap.Reserve(pieces.size() * sizeof(Str))) {
    const size_t end = pos;
    if (max_splits >= 0 && static_cast<int64_t>(pieces.size()) == max_splits) {
      pieces.push_back(Sub(str, 0, end));
      break;
    }
    skip(false);
    pieces.push_back(Sub(str, pos, end));
    skip(true);
  }
  std::ranges::reverse(pieces);
  return pieces;
}

}  // namespace

const Str* WithMarkup(const Str& str, bool markup, Heap& heap) {
  if (str.markup == markup) return &str;
  Str* clone = CloneStr(heap, str);
  clone->markup = markup;
  return clone;
}

size_t FindText(std::string_view text, std::string_view part, size_t begin) {
  if (begin > text.size()) return std::string_view::npos;
  const std::string_view rest = text.substr(begin);
  const void* found = memmem(rest.data(), rest.size(), part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return begin + static_cast<size_t>(static_cast<const char*>(found) - rest.data());
}

size_t FindLastText(std::string_view text, std::string_view part, size_t end, Heap& heap) {
  // At worst every place of the text is compared with the whole part.
  const size_t part_cost = part.size() / 64 + 1;
  const size_t text_cost = std::min(end, text.size()) / 64 + 1;
  if (!heap.Spend(
          static_cast<int64_t>(std::min<size_t>(text_cost, INT32_MAX) * std::min<size_t>(part_cost, INT32_MAX)))) {
    return std::string_view::npos;
  }
  return text.substr(0, end).rfind(part);
}

const Str* Strip(const Str& str, const Str* chars, StripSides sides, Heap& heap) {
  const std::string_view text = str.view();
  size_t begin = 0;
  size_t end = text.size();
  while (sides.left && begin < end) {
    const Utf8Char c = DecodeUtf8(text.substr(begin));
    if (!IsStripped(c.code_point, chars)) break;
    begin += c.length;
    if (chars != nullptr && !heap.Spend(static_cast<int64_t>(chars->size / 64))) break;
  }
  while (sides.right && end > begin) {
    const size_t last = PreviousChar(text, end);
    if (!IsStripped(DecodeUtf8(text.substr(last)).code_point, chars)) break;
    end = last;
    if (chars != nullptr && !heap.Spend(static_cast<int64_t>(chars->size / 64))) break;
  }
  return NewSub(heap, str, begin, end);
}

const Str* Replace(const Str& str, const Str& old, const Str& replacement, int64_t count, Heap& heap) {
  StringBuilder builder(heap);
  const std::string_view text = str.view();
  heap.Spend(static_cast<int64_t>(text.size() / 64));
  size_t copied = 0;
  size_t pos = 0;
  for (int64_t done = 0; (count < 0 || done < count) && !heap.exhausted(); ++done) {
    const size_t found = FindText(text, old.view(), pos);
    if (found == std::string_view::npos) break;
    builder.Append(str, copied, found);
    builder.Append(replacement);
    copied = found + old.size;
    if (old.size > 0) {
      pos = copied;
    } else if (found < text.size()) {
      pos = found + CharLength(text[found]);
    } else {
      break;
    }
  }
  if (copied == 0 && builder.size() == 0) return &str;
  builder.Append(str, copied, text.size());
  return WithMarkup(*builder.Finish(), str.markup, heap);
}

std::vector<Str> Split(const Str& str, const Str* separator, int64_t max_splits, bool from_right, Heap& heap) {
  heap.Spend(static_cast<int64_t>(str.size / 64));
  if (separator == nullptr) {
    return from_right ? SplitAtSpacesFromRight(str, max_splits, heap) : SplitAtSpaces(str, max_splits, heap);
  }
  std::vector<Str> pieces;
  const std::string_view text = str.view();
  const auto may_split = [&] { return max_splits < 0 || static_cast<int64_t>(pieces.size()) < max_splits; };
  if (from_right) {
    size_t end = text.size();
    while (may_split() && heap.Spend(1)) {
      const size_t found = FindLastText(text, separator->view(), end, heap);
      if (found == std::string_view::npos) break;
      pieces.push_back(Sub(str, found + separator->size, end));
      end = found;
      if (!heap.Reserve(pieces.size() * sizeof(Str))) break;
    }
    pieces.push_back(Sub(str, 0, end));
    std::ranges::reverse(pieces);
    return pieces;
  }
  size_t begin = 0;
  while (may_split() && heap.Spend(1)) {
    const size_t found = FindText(text, separator->view(), begin);
    if (found == std::string_view::npos) break;
    pieces.push_back(Sub(str, begin, found));
    begin = found + separator->size;
    if (!heap.Reserve(pieces.size() * sizeof(Str))) break;
  }
  pieces.push_back(Sub(str, begin, text.size()));
  return pieces;
}

std::vector<Str> SplitLines(const Str& str, bool keep_ends, Heap& heap) {
  heap.Spend(static_cast<int64_t>(str.size / 64));
  std::vector<Str> lines;
  const std::string_view text = str.view();
  size_t begin = 0;
  for (size_t pos = 0; pos < text.size();) {
    const Utf8Char c = DecodeUtf8(text.substr(pos));
    const size_t end = pos;
    pos += c.length;
    if (!IsLineEnd(c.code_point)) continue;
    if (c.code_point == U'\r' && pos < text.size() && text[pos] == '\n') ++pos;
    lines.push_back(Sub(str, begin, keep_ends ? pos : end));
    begin = pos;
    if (!heap.Reserve(lines.size() * sizeof(Str))) break;
  }
  if (begin < text.size()) lines.push_back(Sub(str, begin, text.size()));
  return lines;
}

const Str* Pad(const Str& str, int64_t width, const Str& fill, PadSides sides, Heap& heap) {
  const int64_t length = CountChars(str);
  if (width <= length) return &str;
  const int64_t padding = width - length;
  // Python puts the odd one of two sides on the left if the width is odd.
  const int64_t centered = padding / 2 + (padding & width & 1);
  const int64_t left = sides.left && sides.right ? centered : sides.left ? padding : 0;
  StringBuilder builder(heap);
  builder.AppendRepeated(fill.view(), left, AnyUntrusted(fill));
  builder.Append(str);
  builder.AppendRepeated(fill.view(), padding - left, AnyUntrusted(fill));
  return WithMarkup(*builder.Finish(), str.markup, heap);
}

}  // namespace adit::chat
