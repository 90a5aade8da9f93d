#ifndef ADIT_SCHED_FLAG_TEXT_H_
#define ADIT_SCHED_FLAG_TEXT_H_

#include <optional>
#include <string_view>
#include <vector>

// What the parsers of descriptions such as "lognormal:200:0.8" have in common.
namespace adit::sched {

// The parts between separators; of an empty text one empty part.
std::vector<std::string_view> SplitText(std::string_view text, char separator);

// All of `text` as a finite decimal number.
std::optional<double> ReadNumber(std::string_view text);

}  // namespace adit::sched

#endif  // ADIT_SCHED_FLAG_TEXT_H_
