#ifndef ADIT_QUANT_TOKEN_NORMS_H_
#define ADIT_QUANT_TOKEN_NORMS_H_

#include <cstdint>
#include <vector>

namespace adit::quant {

// A token's square norm counts at most this many times that of the window's median token.
inline constexpr float kMostOfMedianNorm = 2.0f;

// Scales tokens of `columns` [n, num_tokens] down to that. The first token of a text, which attention rests on where it
// has nothing to look for (Xiao et al. 2023, arXiv:2309.17453), is up to hundreds of times as large as the others where
// it enters a down projection, and a sum of x x^T over tokens would be about little else.
void HoldLargeTokensDown(std::vector<float>& columns, int64_t n, int64_t num_tokens);

}  // namespace adit::quant

#endif  // ADIT_QUANT_TOKEN_NORMS_H_
