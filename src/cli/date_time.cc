#include "cli/date_time.h"

#include <array>
#include <chrono>

#include "base/error.h"
#include "cli/printable.h"

namespace adit::cli {
namespace {

constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";  // d: a digit
// Year, month, day, hour, minute, second.
using Fields = std::array<int, 6>;

bool ReadFields(std::string_view text, Fields& fields) {
  if (text.size() != kForm.size()) return false;
  size_t field = 0;
  fields.fill(0);
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != 'd') {
      if (text[i] != kForm[i]) return false;
      ++field;
    } else if (text[i] >= '0' && text[i] <= '9') {
      fields[field] = fields[field] * 10 + (text[i] - '0');
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::tm> ParseDateTime(std::string_view text) {
  Fields fields;
  if (!ReadFields(text, fields)) {
    return InvalidArgument("'{}' is no date and time: wanted the form 2024-07-26T12:34:56",
                           OneLine(text, kMaxShownBytes));
  }
  const auto [year, month, day, hour, minute, second] = fields;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned int>(month)),
                                         std::chrono::day(static_cast<unsigned int>(day))};
  if (!date.ok() || year < 1900 || hour > 23 || minute > 59 || second > 59) {
    return InvalidArgument("'{}' is no date and time that exists", text);
  }
  const std::chrono::sys_days days = date;
  std::tm time = {};
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  time.tm_mday = day;
  time.tm_hour = hour;
  time.tm_min = minute;
  time.tm_sec = second;
  time.tm_wday = static_cast<int>(std::chrono::weekday(days).c_encoding());
  time.tm_yday = static_cast<int>((days - std::chrono::sys_days(date.year() / std::chrono::January / 1)).count());
  time.tm_isdst = -1;
  return time;
}

}  // namespace adit::cli
