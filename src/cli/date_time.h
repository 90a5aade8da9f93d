#ifndef ADIT_CLI_DATE_TIME_H_
#define ADIT_CLI_DATE_TIME_H_

#include <ctime>
#include <string_view>

#include "adit/status.h"

namespace adit::cli {

// A date and time of day as "2024-07-26T12:34:56", years 1900 to 9999, in no particular zone; day of the week and of
// the year are filled in. InvalidArgument for another form or a day that the calendar does not have.
Result<std::tm> ParseDateTime(std::string_view text);

}  // namespace adit::cli

#endif  // ADIT_CLI_DATE_TIME_H_
