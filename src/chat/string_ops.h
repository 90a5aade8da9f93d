#ifndef ADIT_CHAT_STRING_OPS_H_
#define ADIT_CHAT_STRING_OPS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "chat/heap.h"
#include "chat/value.h"

// What Python's str methods do, with every byte keeping its trust. Results are markup if `str` is.
namespace adit::chat {

enum class LetterCase { kLower, kUpper, kTitle, kCapitalized, kSwapped, kFolded };

const Str* ChangeCase(const Str& str, LetterCase letter_case, Heap& heap);

// Without the chars of `chars`, or white space if it is null, at either end.
struct StripSides {
  bool left = true;
  bool right = true;
};
const Str* Strip(const Str& str, const Str* chars, StripSides sides, Heap& heap);

// With `old` replaced by `replacement`, at most `count` times if that is not negative. An empty `old` stands before
// every char and at the end.
const Str* Replace(const Str& str, const Str& old, const Str& replacement, int64_t count, Heap& heap);

// The pieces between separators, at most `max_splits` cuts if that is not negative, counted from the left or right.
// A null separator is any run of white space and leaves no empty pieces. Precondition: the separator is not empty.
std::vector<Str> Split(const Str& str, const Str* separator, int64_t max_splits, bool from_right, Heap& heap);

// Lines by Python's line ends, of which there are eleven.
std::vector<Str> SplitLines(const Str& str, bool keep_ends, Heap& heap);

// Padded to `width` chars with `fill`, one char, on the left, right or both sides.
struct PadSides {
  bool left = true;
  bool right = true;
};
const Str* Pad(const Str& str, int64_t width, const Str& fill, PadSides sides, Heap& heap);

// Byte offset of `part` in `text` from `begin` on, npos if it is not there; in linear time.
size_t FindText(std::string_view text, std::string_view part, size_t begin);
// The last one that ends at or before `end`.
size_t FindLastText(std::string_view text, std::string_view part, size_t end, Heap& heap);

// The string with another markup flag.
const Str* WithMarkup(const Str& str, bool markup, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_STRING_OPS_H_
