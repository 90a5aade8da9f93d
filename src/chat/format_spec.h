#ifndef ADIT_CHAT_FORMAT_SPEC_H_
#define ADIT_CHAT_FORMAT_SPEC_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/text.h"
#include "chat/value.h"

// Layout of a value in text, shared by % and str.format.
namespace adit::chat {

// [[fill]align][sign][#][0][width][,][.precision][type], and what % says in other words.
struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  // < > ^ =, or 0 for the type's own
  char sign = '-';    // - + or a blank
  bool alternate = false;
  bool zero = false;  // pad numbers with zeros after the sign
  int64_t width = 0;
  char grouping = '\0';  // , or _
  int64_t precision = -1;
  char type = '\0';
};

// Reads the part after the colon of a replacement field.
Result<FormatSpec> ParseFormatSpec(std::string_view text);

// Appends a number, as format() writes it. `untrusted` is the trust of what pads it.
Status AppendNumber(const Value& number, const FormatSpec& spec, bool untrusted, StringBuilder& out, Heap& heap);

// Appends a string, cut to the precision and padded to the width.
Status AppendPadded(const Str& str, const FormatSpec& spec, bool untrusted, StringBuilder& out, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_FORMAT_SPEC_H_
