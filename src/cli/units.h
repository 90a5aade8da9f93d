#ifndef ADIT_CLI_UNITS_H_
#define ADIT_CLI_UNITS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::cli {

// A whole decimal number, perhaps with a minus sign, perhaps with k, m or g (times 1000, 1000^2, 1000^3) or K, M or G
// (times 1024, 1024^2, 1024^3) behind it. InvalidArgument for anything else.
Result<int64_t> ParseCount(std::string_view text);

// Token ids between spaces, line ends or commas; one pair of brackets around them all may be there, so JSON arrays do
// too. InvalidArgument, naming the word, for one that is no number of 0..2^31-1.
Result<std::vector<int32_t>> ParseIds(std::string_view text);

// Ids between spaces.
std::string JoinIds(std::span<const int32_t> ids);

// "93.8 MiB".
std::string FormatBytes(int64_t bytes);

// "134.5 M": three or four digits that count, for people.
std::string FormatCount(int64_t count);

}  // namespace adit::cli

#endif  // ADIT_CLI_UNITS_H_
