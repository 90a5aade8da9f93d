#ifndef ADIT_CHAT_WORDWRAP_H_
#define ADIT_CHAT_WORDWRAP_H_

#include <cstdint>
#include <vector>

#include "chat/heap.h"
#include "chat/value.h"

namespace adit::chat {

struct WrapOptions {
  int64_t width = 79;  // chars, positive
  bool break_long_words = true;
  bool break_on_hyphens = true;
};

// Lines of at most `width` chars, by the rules of Python's textwrap: cut at white space, which is dropped at the cut,
// after hyphens inside words and around dashes.
std::vector<Str> WrapLines(const Str& paragraph, const WrapOptions& options, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_WORDWRAP_H_
