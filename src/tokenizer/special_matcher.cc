#include "tokenizer/special_matcher.h"

#include <algorithm>

#include "base/check.h"
#include "tokenizer/scan_internal.h"

namespace adit::tokenizer {
namespace {

// Start of the character that ends at `end`. Precondition: end > 0.
size_t PreviousChar(std::string_view text, size_t end) {
  --end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

bool IsWordAt(std::string_view text, size_t pos) {
  return pos < text.size() && IsWordCharacter(DecodeLenient(text.substr(pos)).code_point);
}

}  // namespace

void SpecialMatcher::Add(std::string_view text, int32_t id, MatchOptions options) {
  ADIT_DCHECK(!text.empty());
  entries_.push_back({std::string(text), id, options});
}

void SpecialMatcher::Build() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
  for (size_t i = 0; i < entries_.size(); ++i) {
    Range& range = first_byte_[static_cast<unsigned char>(entries_[i].text[0])];
    if (range.begin == range.end) range.begin = i;
    range.end = i + 1;
  }
}

SpecialMatcher::Range SpecialMatcher::Narrow(Range range, size_t depth, char byte) const {
  const auto wanted = static_cast<unsigned char>(byte);
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(range.begin);
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(range.end);
  const auto byte_of = [depth](const Entry& entry) { return static_cast<unsigned char>(entry.text[depth]); };
  const auto low = std::partition_point(begin, end, [&](const Entry& entry) { return byte_of(entry) < wanted; });
  const auto high = std::partition_point(low, end, [&](const Entry& entry) { return byte_of(entry) == wanted; });
  return {static_cast<size_t>(low - entries_.begin()), static_cast<size_t>(high - entries_.begin())};
}

std::optional<SpecialMatcher::Match> SpecialMatcher::MatchAt(std::string_view text, size_t num_trusted) const {
  std::optional<Match> longest;
  if (text.empty()) return longest;
  Range range = first_byte_[static_cast<unsigned char>(text[0])];
  for (size_t depth = 1; range.begin < range.end; ++depth) {
    // The entries agree in `depth` bytes and are sorted, so only the first can end here.
    const Entry& shortest = entries_[range.begin];
    if (shortest.text.size() == depth) {
      if (!shortest.options.needs_trust || depth <= num_trusted) longest = {shortest.id, depth, shortest.options};
      ++range.begin;
    }
    if (depth == text.size()) break;
    range = Narrow(range, depth, text[depth]);
  }
  return longest;
}

std::optional<TextRange> SpecialMatcher::ExtentOf(const Match& match, std::string_view text, size_t begin, size_t pos) {
  TextRange extent = {pos, pos + match.length};
  if (!match.options.single_word && !match.options.strips_left && !match.options.strips_right) return extent;
  const Scanner scanner(text);
  if (match.options.single_word) {
    if (extent.begin > 0 && IsWordAt(text, PreviousChar(text, extent.begin))) return std::nullopt;
    if (IsWordAt(text, extent.end)) return std::nullopt;
  }
  while (match.options.strips_left && extent.begin > begin) {
    const size_t previous = PreviousChar(text, extent.begin);
    if (previous < begin || !(scanner.At(previous).classes & kSpace)) break;
    extent.begin = previous;
  }
  if (match.options.strips_right) extent.end = scanner.SkipAny(extent.end, kSpace);
  return extent;
}

}  // namespace adit::tokenizer
