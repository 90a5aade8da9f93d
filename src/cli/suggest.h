#ifndef ADIT_CLI_SUGGEST_H_
#define ADIT_CLI_SUGGEST_H_

#include <span>
#include <string>
#include <string_view>

namespace adit::cli {

// The one of `known` that a person who typed `word` most likely meant, or nothing where none is near: at most a third
// of its letters are missing, added, changed or swapped with a neighbour.
std::string_view NearestWord(std::string_view word, std::span<const std::string> known);

}  // namespace adit::cli

#endif  // ADIT_CLI_SUGGEST_H_
