#include "sample/select_top.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

// Logits that are skipped with one comparison when the best of them is not good enough.
constexpr size_t kSelectChunk = 64;

// Drops all but the best `k`, the last of which then stands last. Precondition: 1 <= k <= ranked.size().
void Prune(std::vector<Ranked>& ranked, size_t k) {
  std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(k - 1), ranked.end(), RanksBefore);
  ranked.resize(k);
}

}  // namespace

void SelectTopUnordered(std::span<const float> logits, int64_t k, std::vector<Ranked>& out) {
  ADIT_DCHECK(k >= 0);
  out.clear();
  if (k == 0) return;
  const size_t count = std::min(static_cast<size_t>(k), logits.size());
  out.reserve(std::min(2 * count, logits.size()) + kSelectChunk);
  // What does not exceed the k-th best so far cannot be among the k best: an equal one has the larger index.
  float threshold = -std::numeric_limits<float>::infinity();
  for (size_t begin = 0; begin < logits.size(); begin += kSelectChunk) {
    const std::span<const float> chunk = logits.subspan(begin, std::min(kSelectChunk, logits.size() - begin));
    if (!(MaxLogit(chunk) > threshold)) continue;
    for (size_t i = 0; i < chunk.size(); ++i) {
      if (chunk[i] > threshold) out.push_back({chunk[i], static_cast<int64_t>(begin + i)});
    }
    if (out.size() >= 2 * count) {
      Prune(out, count);
      threshold = out.back().logit;
    }
  }
  if (!out.empty()) Prune(out, std::min(count, out.size()));
}

void SelectTop(std::span<const float> logits, int64_t k, std::vector<Ranked>& out) {
  SelectTopUnordered(logits, k, out);
  std::sort(out.begin(), out.end(), RanksBefore);
}

}  // namespace adit::sample
