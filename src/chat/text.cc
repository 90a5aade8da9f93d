#include "chat/text.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"

namespace adit::chat {
namespace {

constexpr size_t kFirstBufferBytes = 64;
constexpr size_t kFirstCuts = 8;

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

Str::Ascii Joined(Str::Ascii left, Str::Ascii right) {
  if (left == Str::Ascii::kNo || right == Str::Ascii::kNo) return Str::Ascii::kNo;
  if (left == Str::Ascii::kYes && right == Str::Ascii::kYes) return Str::Ascii::kYes;
  return Str::Ascii::kUnknown;
}

void PushCut(Heap& heap, TextBuffer& buffer, const char* cut) {
  if (buffer.num_cuts == buffer.cuts_capacity) {
    const size_t capacity = std::max(kFirstCuts, buffer.cuts_capacity * 2);
    const char** grown = heap.NewArray<const char*>(capacity);
    std::copy_n(buffer.cuts, buffer.num_cuts, grown);
    buffer.cuts = grown;
    buffer.cuts_capacity = capacity;
  }
  buffer.cuts[buffer.num_cuts++] = cut;
}

// Appends `str` to the buffer; `untrusted_end` is the trust of what ends there now, if anything.
void AppendTo(Heap& heap, TextBuffer& buffer, const Str& str, bool joins, bool untrusted_end) {
  char* begin = buffer.data + buffer.size;
  if (joins && untrusted_end != str.untrusted) PushCut(heap, buffer, begin);
  std::memcpy(begin, str.data, str.size);
  buffer.size += str.size;
  for (size_t i = 0; i < str.num_cuts; ++i) PushCut(heap, buffer, begin + (str.cuts[i] - str.data));
}

TextBuffer* NewBuffer(Heap& heap, size_t capacity) {
  auto* buffer = heap.New<TextBuffer>();
  buffer->data = heap.NewArray<char>(capacity);
  buffer->capacity = capacity;
  return buffer;
}

// Whether `str` ends where the text of its buffer ends and `more` bytes fit behind it.
bool CanGrow(const Str& str, size_t more) {
  const TextBuffer* buffer = str.buffer;
  return buffer != nullptr && str.data + str.size == buffer->data + buffer->size &&
         buffer->capacity - buffer->size >= more;
}

}  // namespace

const Str* NewStr(Heap& heap, std::string_view text, bool untrusted) {
  char* copy = heap.NewArray<char>(text.size());
  std::copy(text.begin(), text.end(), copy);
  return BorrowStr(heap, {copy, text.size()}, untrusted);
}

const Str* BorrowStr(Heap& heap, std::string_view text, bool untrusted) {
  Str* str = heap.New<Str>();
  str->data = text.data();
  str->size = text.size();
  str->untrusted = untrusted && !text.empty();
  return str;
}

Str* CloneStr(Heap& heap, const Str& str) {
  Str* clone = heap.New<Str>();
  *clone = str;
  return clone;
}

Str Sub(const Str& str, size_t begin, size_t end) {
  Str sub;
  sub.markup = str.markup;
  if (begin >= end) return sub;
  const char* first = str.data + begin;
  const char* last = str.data + end;
  const char* const* cuts_end = str.cuts + str.num_cuts;
  const char* const* cut = std::upper_bound(str.cuts, cuts_end, first);
  sub.data = first;
  sub.size = end - begin;
  sub.cuts = cut;
  sub.num_cuts = static_cast<size_t>(std::lower_bound(cut, cuts_end, last) - cut);
  sub.untrusted = str.untrusted != ((cut - str.cuts) % 2 != 0);
  sub.buffer = str.buffer;
  if (str.ascii == Str::Ascii::kYes) sub.ascii = Str::Ascii::kYes;
  return sub;
}

const Str* NewSub(Heap& heap, const Str& str, size_t begin, size_t end) {
  if (begin == 0 && end == str.size) return &str;
  return CloneStr(heap, Sub(str, begin, end));
}

const Str* Concat(Heap& heap, const Str& left, const Str& right) {
  if (right.size == 0 && !left.markup) return &left;
  if (left.size == 0 && !right.markup) return &right;
  const size_t size = left.size + right.size;
  Str* result = heap.New<Str>();
  result->size = size;
  result->untrusted = left.size != 0 ? left.untrusted : right.untrusted;
  result->ascii = Joined(left.ascii, right.ascii);
  const bool untrusted_end = UntrustedAtEnd(left);
  if (CanGrow(left, right.size)) {
    result->data = left.data;
    result->buffer = left.buffer;
  } else {
    result->buffer = NewBuffer(heap, std::max(kFirstBufferBytes, 2 * size));
    result->data = result->buffer->data;
    AppendTo(heap, *result->buffer, left, false, false);
  }
  TextBuffer& buffer = *result->buffer;
  // The cuts of a string that reaches the end of its buffer are the last ones of the buffer.
  const size_t first_cut = buffer.num_cuts - left.num_cuts;
  AppendTo(heap, buffer, right, left.size != 0 && right.size != 0, untrusted_end);
  result->cuts = buffer.cuts + first_cut;
  result->num_cuts = buffer.num_cuts - first_cut;
  return result;
}

bool AnyUntrusted(const Str& str) { return !str.fully_trusted(); }

bool UntrustedAtEnd(const Str& str) { return str.untrusted != (str.num_cuts % 2 != 0); }

bool IsAscii(const Str& str) {
  if (str.ascii == Str::Ascii::kUnknown) {
    const bool ascii =
        std::all_of(str.data, str.data + str.size, [](char c) { return static_cast<uint8_t>(c) < 0x80; });
    str.ascii = ascii ? Str::Ascii::kYes : Str::Ascii::kNo;
  }
  return str.ascii == Str::Ascii::kYes;
}

int64_t CountChars(const Str& str) { return CharIndex(str, str.size); }

size_t ByteOffset(const Str& str, int64_t char_index) {
  if (IsAscii(str)) return static_cast<size_t>(char_index);
  size_t offset = 0;
  for (int64_t i = 0; i < char_index && offset < str.size; ++i) offset += CharLength(str.data[offset]);
  return offset;
}

int64_t CharIndex(const Str& str, size_t byte_offset) {
  if (IsAscii(str)) return static_cast<int64_t>(byte_offset);
  return std::count_if(str.data, str.data + byte_offset, [](char c) { return !IsContinuation(c); });
}

size_t PreviousChar(std::string_view text, size_t end) {
  do {
    --end;
  } while (end > 0 && IsContinuation(text[end]));
  return end;
}

void StringBuilder::Append(const Str& str) {
  size_t begin = 0;
  bool untrusted = str.untrusted;
  for (size_t i = 0; i < str.num_cuts; ++i) {
    const auto end = static_cast<size_t>(str.cuts[i] - str.data);
    Append(str.view().substr(begin, end - begin), untrusted);
    begin = end;
    untrusted = !untrusted;
  }
  Append(str.view().substr(begin), untrusted);
}

void StringBuilder::Append(std::string_view text, bool untrusted) {
  if (text.empty() || heap_.exhausted()) return;
  if (text.size() > max_bytes_ - text_.size()) {
    heap_.Exhaust("output");
    return;
  }
  // While it grows, the text is there twice.
  const size_t size = text_.size() + text.size();
  if (size > text_.capacity() && !heap_.Reserve(2 * size)) return;
  if (text_.empty()) {
    first_untrusted_ = untrusted;
  } else if (untrusted != last_untrusted_) {
    cuts_.push_back(text_.size());
  }
  last_untrusted_ = untrusted;
  text_.append(text);
}

void StringBuilder::AppendChar(char32_t code_point, bool untrusted) {
  std::string encoded;
  AppendUtf8(code_point, encoded);
  Append(encoded, untrusted);
}

void StringBuilder::AppendRepeated(std::string_view text, int64_t times, bool untrusted) {
  if (times <= 0 || text.empty()) return;
  const auto count = static_cast<size_t>(times);
  if (!heap_.Reserve(count > SIZE_MAX / text.size() ? SIZE_MAX : count * text.size())) return;
  for (size_t i = 0; i < count && !heap_.exhausted(); ++i) Append(text, untrusted);
}

const Str* StringBuilder::Finish() const {
  const Str* str = NewStr(heap_, text_, first_untrusted_);
  if (cuts_.empty()) return str;
  const char** cuts = heap_.NewArray<const char*>(cuts_.size());
  for (size_t i = 0; i < cuts_.size(); ++i) cuts[i] = str->data + cuts_[i];
  Str* with_cuts = CloneStr(heap_, *str);
  with_cuts->cuts = cuts;
  with_cuts->num_cuts = cuts_.size();
  return with_cuts;
}

}  // namespace adit::chat
