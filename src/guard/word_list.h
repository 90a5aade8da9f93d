#ifndef ADIT_GUARD_WORD_LIST_H_
#define ADIT_GUARD_WORD_LIST_H_

#include <span>
#include <string>
#include <vector>

namespace adit::guard {

// Expressions that together find each of the words and phrases, whole: no letter or digit stands before or behind it.
// Of words that begin alike the longest is found; a blank stands for any white space.
std::vector<std::string> WordExpressions(std::span<const std::string> words);

}  // namespace adit::guard

#endif  // ADIT_GUARD_WORD_LIST_H_
