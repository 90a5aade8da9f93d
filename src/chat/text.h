#ifndef ADIT_CHAT_TEXT_H_
#define ADIT_CHAT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/value.h"

// Strings that know which of their bytes are untrusted. Offsets are bytes unless a name says chars; a char is a code
// point.
namespace adit::chat {

// A copy of `text`, all of it trusted or not. Precondition for all: valid UTF-8.
const Str* NewStr(Heap& heap, std::string_view text, bool untrusted);
// The same without a copy: `text` must outlive the heap.
const Str* BorrowStr(Heap& heap, std::string_view text, bool untrusted);
// A copy of the handle, to change its flags.
Str* CloneStr(Heap& heap, const Str& str);

// The bytes [begin, end), sharing text and cuts. Both lie on borders of chars.
Str Sub(const Str& str, size_t begin, size_t end);
const Str* NewSub(Heap& heap, const Str& str, size_t begin, size_t end);

// left + right. Grows left's buffer in place where it can, so that building a string piece by piece takes linear time
// and memory. The result is not markup.
const Str* Concat(Heap& heap, const Str& left, const Str& right);

bool AnyUntrusted(const Str& str);
bool UntrustedAtEnd(const Str& str);
bool IsAscii(const Str& str);
int64_t CountChars(const Str& str);
// Where the char at `char_index`, at most CountChars, begins.
size_t ByteOffset(const Str& str, int64_t char_index);
// How many chars begin before `byte_offset`.
int64_t CharIndex(const Str& str, size_t byte_offset);
// Length in bytes of the char that begins with `first_byte`.
inline size_t CharLength(char first_byte) {
  const auto byte = static_cast<uint8_t>(first_byte);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
// Where the char that ends at `end`, not 0, begins.
size_t PreviousChar(std::string_view text, size_t end);

// Collects pieces of text with their trust. Past `max_bytes`, or when the heap is exhausted, it drops what is appended
// and marks the heap as exhausted.
class StringBuilder {
 public:
  explicit StringBuilder(Heap& heap, size_t max_bytes = SIZE_MAX) : heap_(heap), max_bytes_(max_bytes) {}

  void Append(const Str& str);
  void Append(const Str& str, size_t begin, size_t end) { Append(Sub(str, begin, end)); }
  void Append(std::string_view text, bool untrusted);
  void AppendChar(char32_t code_point, bool untrusted);
  void AppendRepeated(std::string_view text, int64_t times, bool untrusted);

  size_t size() const { return text_.size(); }
  const Str* Finish() const;

  // For the whole output: the text, and where trust changes.
  const std::string& text() const { return text_; }
  const std::vector<size_t>& cuts() const { return cuts_; }
  bool first_untrusted() const { return first_untrusted_; }

 private:
  Heap& heap_;
  const size_t max_bytes_;
  std::string text_;
  std::vector<size_t> cuts_;
  bool first_untrusted_ = false;
  bool last_untrusted_ = false;
};

}  // namespace adit::chat

#endif  // ADIT_CHAT_TEXT_H_
