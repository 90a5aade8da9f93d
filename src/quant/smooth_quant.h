#ifndef ADIT_QUANT_SMOOTH_QUANT_H_
#define ADIT_QUANT_SMOOTH_QUANT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "adit/status.h"
#include "nn/exec_context.h"
#include "quant/column_sources.h"

// SmoothQuant (Xiao et al. 2022, arXiv:2211.10438): with 8-bit activations of one scale for each token, a few large
// columns leave the others next to no codes. What gives the input is divided by s, column by column, and the weights
// are multiplied by it, which moves a part of that difficulty to the weights: s_j = max|x_j|^a / max|w_j|^(1 - a). The
// migration strength a is searched for.
namespace adit::quant {

// What an input of matrices is over some text.
struct InputSample {
  // At most so many tokens are kept.
  static constexpr int64_t kMaxTokens = 128;

  std::vector<float> largest;  // [n], the largest magnitude of each column, over all tokens
  std::vector<float> tokens;   // [num_tokens, n], some of them

  // Takes in window number `window` of num_windows: `columns` [n, num_tokens].
  void Add(std::span<const float> columns, int64_t n, int64_t num_tokens, int64_t window, int64_t num_windows);
  int64_t num_columns() const { return static_cast<int64_t>(largest.size()); }
  int64_t num_tokens() const { return largest.empty() ? 0 : static_cast<int64_t>(tokens.size() / largest.size()); }
};

// The strengths that are tried: k / kSmoothSteps for k = 0 .. kSmoothSteps.
inline constexpr int kSmoothSteps = 20;

// The factors [n] of strength k / kSmoothSteps, with a geometric mean of the largest and the smallest of 1. A column
// that is zero, in all tokens or in all weights, counts as the smallest other one.
std::vector<float> SmoothScales(std::span<const float> largest_inputs, std::span<const float> largest_weights, int k);

// The factors of the strength with which W8A8 changes the outputs of `rows` [num_rows, n] least: the sum of squares,
// over rows and the sample's tokens, of what 8-bit codes of x / s with a scale for each token, times 8-bit codes of
// w * s with a scale for each row, differ from w x. largest_weights [n] are the largest magnitudes of columns; columns
// of one source count as the largest of them. All 1 where nothing is better. Corrupt when activations are not finite;
// ResourceExhausted for memory.
Result<std::vector<float>> SearchSmoothScales(const InputSample& sample, std::span<const float> rows,
                                              std::span<const float> largest_weights, ColumnSources sources,
                                              const nn::ExecContext& context);

// That sum for given factors; for tests.
Result<double> SmoothLoss(const InputSample& sample, std::span<const float> rows, std::span<const float> scales,
                          const nn::ExecContext& context);

}  // namespace adit::quant

#endif  // ADIT_QUANT_SMOOTH_QUANT_H_
