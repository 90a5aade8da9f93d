#include "cli/suggest.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace adit::cli {
namespace {

// Words of a command line that are longer are no typing errors.
constexpr size_t kMaxWordBytes = 64;

// Edit distance in which a swap of neighbours counts once (optimal string alignment).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view NearestWord(std::string_view word, std::span<const std::string> known) {
  std::string_view nearest;
  if (word.size() > kMaxWordBytes) return nearest;
  size_t least = kMaxWordBytes;
  for (const std::string& candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance * 3 <= candidate.size() && distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace adit::cli
