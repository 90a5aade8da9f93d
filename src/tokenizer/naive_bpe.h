#ifndef ADIT_TOKENIZER_NAIVE_BPE_H_
#define ADIT_TOKENIZER_NAIVE_BPE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Byte-pair encoding by its definition, for tests.
namespace adit::tokenizer {

// How late two neighbouring symbols merge; nothing if they do not.
using MergeOrder = std::function<std::optional<double>(const std::string& left, const std::string& right)>;

// Merges the leftmost of the earliest pairs, looking at all of them each time, until none is left.
inline std::vector<std::string> NaiveMerge(std::vector<std::string> symbols, const MergeOrder& order) {
  while (true) {
    std::optional<double> best;
    size_t best_at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const std::optional<double> found = order(symbols[i], symbols[i + 1]);
      if (found && (!best || *found < *best)) {
        best = found;
        best_at = i;
      }
    }
    if (!best) return symbols;
    symbols[best_at] += symbols[best_at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_NAIVE_BPE_H_
