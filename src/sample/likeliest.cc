#include "sample/likeliest.h"

#include <cmath>

#include "sample/select_top.h"
#include "sample/softmax.h"

namespace adit::sample {

std::vector<TokenLogprob> LikeliestTokens(std::span<const float> logits, int64_t count) {
  std::vector<TokenLogprob> tokens;
  const BestLogit best = FindBest(logits);
  if (best.index < 0 || count <= 0) return tokens;
  const LogSoftmax log_softmax(logits, best);
  std::vector<Ranked> ranked;
  SelectTop(logits, count, ranked);
  for (const Ranked& token : ranked) {
    const double logprob = log_softmax(token.logit);
    if (std::isinf(logprob)) break;
    tokens.push_back({static_cast<int32_t>(token.index), logprob});
  }
  return tokens;
}

}  // namespace adit::sample
