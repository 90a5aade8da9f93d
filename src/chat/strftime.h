#ifndef ADIT_CHAT_STRFTIME_H_
#define ADIT_CHAT_STRFTIME_H_

#include <ctime>
#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::chat {

// Formats a date and time by the directives of strftime, in English whatever the locale; %-d and the like drop padding.
// The days of the week and year follow from the date. InvalidArgument for a directive that is not known.
Status FormatTime(std::string_view format, const std::tm& time, std::string* out);

}  // namespace adit::chat

#endif  // ADIT_CHAT_STRFTIME_H_
