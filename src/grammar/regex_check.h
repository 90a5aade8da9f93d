#ifndef ADIT_GRAMMAR_REGEX_CHECK_H_
#define ADIT_GRAMMAR_REGEX_CHECK_H_

#include <string_view>

#include "adit/status.h"

namespace adit::grammar {

inline constexpr size_t kMaxRegexBytes = 8192;
inline constexpr int kMaxRegexDepth = 64;
// Copies of the largest part that counted repetitions ask for, those inside each other multiplied.
inline constexpr int64_t kMaxRegexCopies = 1024;

// Where a regular expression stands.
enum class RegexUse : unsigned char {
  kText,        // for a whole text
  kJsonString,  // between the quotes of a JSON string: nothing that JSON writes with a backslash can be matched
};

// Whether every part of the expression is enforced. It is matched against the whole text. There are characters, '.',
// classes, \d \w \s and their opposites, groups, '|', and repetitions; '^' at its start and '$' at its end change
// nothing. InvalidArgument or Unsupported with the byte at which something else stands.
Status CheckRegex(std::string_view regex, RegexUse use);

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_REGEX_CHECK_H_
