#include "chat/strftime.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.h"

namespace adit::chat {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<int, 12> kDaysBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};

bool IsLeap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// Days from 1970-01-01 to a date of the Gregorian calendar, month from 0.
int64_t DaysSinceEpoch(int64_t year, int month, int day) {
  const int64_t before = year - 1;
  const int64_t leaps = before / 4 - before / 100 + before / 400 - 477;
  const int leap_day = month > 1 && IsLeap(year) ? 1 : 0;
  return (year - 1970) * 365 + leaps + kDaysBefore[static_cast<size_t>(month)] + leap_day + day - 1;
}

// Date and time with every field in its range.
struct Moment {
  int64_t year = 1970;
  int month = 0;    // from 0
  int day = 1;      // of the month
  int weekday = 0;  // from Sunday
  int yearday = 0;  // from 0
  int hour = 0;
  int minute = 0;
  int second = 0;
  int64_t epoch_days = 0;
};

Moment ToMoment(const std::tm& time) {
  Moment moment;
  moment.year = std::clamp<int64_t>(int64_t{time.tm_year} + 1900, 1, 9999);
  moment.month = std::clamp(time.tm_mon, 0, 11);
  moment.day = std::clamp(time.tm_mday, 1, 31);
  moment.hour = std::clamp(time.tm_hour, 0, 23);
  moment.minute = std::clamp(time.tm_min, 0, 59);
  moment.second = std::clamp(time.tm_sec, 0, 60);
  moment.epoch_days = DaysSinceEpoch(moment.year, moment.month, moment.day);
  moment.weekday = static_cast<int>(((moment.epoch_days + 4) % 7 + 7) % 7);
  moment.yearday = static_cast<int>(moment.epoch_days - DaysSinceEpoch(moment.year, 0, 1));
  return moment;
}

// Week and year of ISO 8601: week 1 holds the first Thursday.
struct IsoWeek {
  int64_t year = 0;
  int week = 0;
};
IsoWeek ToIsoWeek(const Moment& moment) {
  const int from_monday = (moment.weekday + 6) % 7;
  const int64_t thursday = moment.epoch_days - from_monday + 3;
  int64_t year = moment.year;
  if (thursday < DaysSinceEpoch(year, 0, 1)) --year;
  if (thursday >= DaysSinceEpoch(year + 1, 0, 1)) ++year;
  return {year, static_cast<int>((thursday - DaysSinceEpoch(year, 0, 1)) / 7 + 1)};
}

// What a directive gives: a number with its padding, or words or another format.
struct Piece {
  bool is_number = false;
  int64_t number = 0;
  int width = 2;
  char pad = '0';
  std::string text;
  std::string_view format;  // to be formatted in turn
};

Piece Number(int64_t number, int width = 2, char pad = '0') { return {true, number, width, pad, "", ""}; }
Piece Text(std::string_view text) { return {false, 0, 0, '0', std::string(text), ""}; }
Piece Format(std::string_view format) { return {false, 0, 0, '0', "", format}; }

bool DatePiece(char directive, const Moment& moment, Piece* piece) {
  const IsoWeek iso = ToIsoWeek(moment);
  switch (directive) {
    case 'a':
      return *piece = Text(kDays[static_cast<size_t>(moment.weekday)].substr(0, 3)), true;
    case 'A':
      return *piece = Text(kDays[static_cast<size_t>(moment.weekday)]), true;
    case 'b':
    case 'h':
      return *piece = Text(kMonths[static_cast<size_t>(moment.month)].substr(0, 3)), true;
    case 'B':
      return *piece = Text(kMonths[static_cast<size_t>(moment.month)]), true;
    case 'C':
      return *piece = Number(moment.year / 100), true;
    case 'd':
      return *piece = Number(moment.day), true;
    case 'e':
      return *piece = Number(moment.day, 2, ' '), true;
    case 'G':
      return *piece = Number(iso.year, 4), true;
    case 'g':
      return *piece = Number(iso.year % 100), true;
    case 'j':
      return *piece = Number(moment.yearday + 1, 3), true;
    case 'm':
      return *piece = Number(moment.month + 1), true;
    case 'u':
      return *piece = Number((moment.weekday + 6) % 7 + 1, 1), true;
    case 'U':
      return *piece = Number((moment.yearday + 7 - moment.weekday) / 7), true;
    case 'V':
      return *piece = Number(iso.week), true;
    case 'w':
      return *piece = Number(moment.weekday, 1), true;
    case 'W':
      return *piece = Number((moment.yearday + 7 - (moment.weekday + 6) % 7) / 7), true;
    case 'y':
      return *piece = Number(moment.year % 100), true;
    case 'Y':
      return *piece = Number(moment.year, 1), true;
    default:
      return false;
  }
}

bool TimePiece(char directive, const Moment& moment, Piece* piece) {
  const int hour12 = moment.hour % 12 == 0 ? 12 : moment.hour % 12;
  switch (directive) {
    case 'f':
      return *piece = Text("000000"), true;  // microseconds, which std::tm does not have
    case 'H':
      return *piece = Number(moment.hour), true;
    case 'I':
      return *piece = Number(hour12), true;
    case 'k':
      return *piece = Number(moment.hour, 2, ' '), true;
    case 'l':
      return *piece = Number(hour12, 2, ' '), true;
    case 'M':
      return *piece = Number(moment.minute), true;
    case 'p':
      return *piece = Text(moment.hour < 12 ? "AM" : "PM"), true;
    case 'P':
      return *piece = Text(moment.hour < 12 ? "am" : "pm"), true;
    case 'S':
      return *piece = Number(moment.second), true;
    case 'z':
    case 'Z':
      return *piece = Text(""), true;  // a local time without a zone has no name for it
    case 'n':
      return *piece = Text("\n"), true;
    case 't':
      return *piece = Text("\t"), true;
    case '%':
      return *piece = Text("%"), true;
    default:
      return false;
  }
}

bool CompoundPiece(char directive, Piece* piece) {
  switch (directive) {
    case 'c':
      return *piece = Format("%a %b %e %H:%M:%S %Y"), true;
    case 'D':
    case 'x':
      return *piece = Format("%m/%d/%y"), true;
    case 'F':
      return *piece = Format("%Y-%m-%d"), true;
    case 'r':
      return *piece = Format("%I:%M:%S %p"), true;
    case 'R':
      return *piece = Format("%H:%M"), true;
    case 'T':
    case 'X':
      return *piece = Format("%H:%M:%S"), true;
    default:
      return false;
  }
}

// A number padded as the flag says: - not at all, _ with blanks, 0 with zeros.
std::string Padded(const Piece& piece, char flag) {
  std::string digits = std::to_string(piece.number);
  if (flag == '-') return digits;
  const char pad = flag == '_' ? ' ' : flag == '0' ? '0' : piece.pad;
  const auto width = static_cast<size_t>(piece.width);
  return digits.size() < width ? std::string(width - digits.size(), pad) + digits : digits;
}

Status AppendFormatted(std::string_view format, const Moment& moment, std::string* out) {
  while (!format.empty()) {
    const size_t plain = std::min(format.find('%'), format.size());
    out->append(format.substr(0, plain));
    format.remove_prefix(plain);
    if (format.empty()) break;
    format.remove_prefix(1);
    char flag = '\0';
    while (!format.empty() && std::string_view("-_0^#").find(format.front()) != std::string_view::npos) {
      flag = format.front();
      format.remove_prefix(1);
    }
    const char directive = format.empty() ? '\0' : format.front();
    Piece piece;
    if (!DatePiece(directive, moment, &piece) && !TimePiece(directive, moment, &piece) &&
        !CompoundPiece(directive, &piece)) {
      return InvalidArgument("strftime_now: the directive '%{}' is not supported", format.substr(0, 1));
    }
    format.remove_prefix(1);
    if (piece.is_number) {
      out->append(Padded(piece, flag));
    } else if (!piece.format.empty()) {
      ADIT_RETURN_IF_ERROR(AppendFormatted(piece.format, moment, out));
    } else {
      if (flag == '^')
        std::ranges::transform(piece.text, piece.text.begin(),
                               [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; });
      out->append(piece.text);
    }
  }
  return Status();
}

}  // namespace

Status FormatTime(std::string_view format, const std::tm& time, std::string* out) {
  return AppendFormatted(format, ToMoment(time), out);
}

}  // namespace adit::chat
