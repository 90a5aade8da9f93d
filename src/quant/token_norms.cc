#include "quant/token_norms.h"

#include <algorithm>
#include <cmath>

namespace adit::quant {

void HoldLargeTokensDown(std::vector<float>& columns, int64_t n, int64_t num_tokens) {
  const auto tokens = static_cast<size_t>(num_tokens);
  std::vector<float> squares(tokens);
  for (size_t i = 0; i < columns.size(); ++i) squares[i % tokens] += columns[i] * columns[i];
  std::vector<float> sorted = squares;
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(tokens / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const float most = kMostOfMedianNorm * *middle;
  for (size_t t = 0; t < tokens; ++t) {
    // Not where half of all tokens are zero, or where a number is not finite: who sums them tells that.
    if (!(most > 0.0f) || !(squares[t] > most) || !std::isfinite(squares[t])) continue;
    const float factor = std::sqrt(most / squares[t]);
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) columns[i * tokens + t] *= factor;
  }
}

}  // namespace adit::quant
