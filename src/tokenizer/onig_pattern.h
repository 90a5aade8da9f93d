#ifndef ADIT_TOKENIZER_ONIG_PATTERN_H_
#define ADIT_TOKENIZER_ONIG_PATTERN_H_

#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::tokenizer {

// A pattern in the dialect of tokenizer.json, which is that of the Oniguruma library with Ruby's syntax, rewritten for
// Regex::Compile. What the two read differently is spelled out:
//   \s \S        the White_Space property (PCRE2 counts U+180E too)
//   \w \W \b \B  letters, marks, decimal numbers and connectors (PCRE2 leaves out marks and connectors)
//   \h \H        hexadecimal digits
//   \uHHHH       a code point
//   (?m)         the dot matches line feeds
//   {n,m}+       repeated, not possessive
//   [a[bc]]      a set within a set: their union
// Unsupported, with the pattern, for `&&` and for a negated set within a set, and for \S and \W within a set.
Result<std::string> TranslateOnigPattern(std::string_view pattern);

// A pattern that matches `text` and nothing else.
std::string QuotePattern(std::string_view text);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_ONIG_PATTERN_H_
