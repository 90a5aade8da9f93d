#include "tokenizer/special_matcher.h"

#include <algorithm>

#include "base/check.h"

namespace adit::tokenizer {

void SpecialMatcher::Add(std::string_view text, int32_t id, bool needs_trust) {
  ADIT_DCHECK(!text.empty());
  entries_.push_back({std::string(text), id, needs_trust});
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
      if (!shortest.needs_trust || depth <= num_trusted) longest = {shortest.id, depth};
      ++range.begin;
    }
    if (depth == text.size()) break;
    range = Narrow(range, depth, text[depth]);
  }
  return longest;
}

}  // namespace adit::tokenizer
