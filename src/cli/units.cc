#include "cli/units.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>

#include "base/error.h"
#include "cli/printable.h"

namespace adit::cli {
namespace {

constexpr std::string_view kBetweenIds = " \t\r\n,";

// 1 for no unit, 0 for one that is not known.
int64_t Multiplier(std::string_view unit) {
  if (unit.empty()) return 1;
  if (unit == "k") return 1000;
  if (unit == "m") return 1000 * 1000;
  if (unit == "g") return 1000 * 1000 * 1000;
  if (unit == "K") return int64_t{1} << 10;
  if (unit == "M") return int64_t{1} << 20;
  if (unit == "G") return int64_t{1} << 30;
  return 0;
}

std::string_view Trim(std::string_view text, std::string_view what) {
  const size_t begin = text.find_first_not_of(what);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(what) - begin + 1);
}

}  // namespace

Result<int64_t> ParseCount(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const int64_t multiplier = Multiplier(std::string_view(rest, static_cast<size_t>(end - rest)));
  if (error == std::errc::invalid_argument || multiplier == 0) {
    return InvalidArgument("'{}' is no whole number", OneLine(text, kMaxShownBytes));
  }
  if (error != std::errc() || __builtin_mul_overflow(value, multiplier, &value)) {
    return InvalidArgument("'{}' is too large", OneLine(text, kMaxShownBytes));
  }
  return value;
}

Result<std::vector<int32_t>> ParseIds(std::string_view text) {
  text = Trim(text, kBetweenIds);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  std::vector<int32_t> ids;
  while (true) {
    const size_t begin = text.find_first_not_of(kBetweenIds);
    if (begin == std::string_view::npos) return ids;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kBetweenIds));
    text.remove_prefix(word.size());
    int32_t id = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || rest != word.data() + word.size() || id < 0) {
      return InvalidArgument("'{}' is no token id: wanted a number of 0..{}", OneLine(word, kMaxShownBytes),
                             std::numeric_limits<int32_t>::max());
    }
    ids.push_back(id);
  }
}

std::string JoinIds(std::span<const int32_t> ids) {
  std::string text;
  for (const int32_t id : ids) {
    if (!text.empty()) text += ' ';
    text += std::to_string(id);
  }
  return text;
}

std::string FormatBytes(int64_t bytes) {
  constexpr int64_t kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{} B", bytes);
  if (bytes < kKibi * kKibi) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / (1 << 10));
  if (bytes < kKibi * kKibi * kKibi) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string FormatCount(int64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 10'000) return std::to_string(count);
  if (count < 1'000'000) return fmt::format("{:.1f} k", value / 1e3);
  if (count < 1'000'000'000) return fmt::format("{:.1f} M", value / 1e6);
  return fmt::format("{:.2f} G", value / 1e9);
}

}  // namespace adit::cli
