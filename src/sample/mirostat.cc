#include "sample/mirostat.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sample/draw.h"
#include "sample/select_top.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

// Best tokens from which the exponent is estimated.
constexpr int64_t kNumEstimated = 100;

// The exponent s of Zipf's law p(i) ~ i^-s by least squares over the ratios of neighbours: with t(i) = log((i + 1) / i)
// and b(i) = log(p(i) / p(i + 1)), sum t b / sum t t.
double EstimateExponent(std::span<const Ranked> ranked) {
  double products = 0;
  double squares = 0;
  for (size_t i = 1; i < ranked.size(); ++i) {
    const double t = std::log(static_cast<double>(i + 1) / static_cast<double>(i));
    products += t * (static_cast<double>(ranked[i - 1].logit) - ranked[i].logit);
    squares += t * t;
  }
  return products / squares;
}

}  // namespace

Mirostat::Mirostat(const SamplingParams& params)
    : version_(params.mirostat), tau_(params.mirostat_tau), eta_(params.mirostat_eta) {}

int64_t Mirostat::FindK(double mu, SampleScratch& scratch, const Candidates& candidates) const {
  SelectTop(candidates.logits(), kNumEstimated, scratch.ranked);
  if (scratch.ranked.size() < 2) return 1;
  const double s = EstimateExponent(scratch.ranked);
  const double epsilon = s - 1;
  const double log_n = std::log(static_cast<double>(candidates.vocab_size()));
  // epsilon / (1 - N^-epsilon), which tends to 1 / log N as epsilon vanishes; it is positive for either sign.
  const double factor = std::fabs(epsilon) < 1e-9 ? 1 / log_n : epsilon / -std::expm1(-epsilon * log_n);
  const double k = std::exp((std::log(factor) + mu * std::numbers::ln2) / s);
  // Equal logits have s = 0, and k tends to 0 or infinity, or is no number.
  if (!(k < static_cast<double>(candidates.size()))) return candidates.size();
  return std::max(static_cast<int64_t>(k), int64_t{1});
}

int64_t Mirostat::Draw(double uniform, SampleScratch& scratch, Candidates& candidates, SamplerState& state) const {
  const double mu = state.mirostat_mu.value_or(2 * tau_);
  const BestLogit best = FindBest(candidates.logits());
  const double log_total = best.logit + std::log(SumExp(candidates.logits(), best.logit));
  if (version_ == 1) {
    const int64_t k = FindK(mu, scratch, candidates);
    if (k < candidates.size()) {
      scratch.ranked.reserve(candidates.logits().size() + 64);  // for any k, so that none allocates later
      SelectTopUnordered(candidates.logits(), k, scratch.ranked);
      candidates.Keep(scratch.ranked.back());
    }
  } else {
    const double threshold = log_total - mu * std::numbers::ln2;
    if (threshold > best.logit) {
      candidates.Keep({best.logit, best.index});
    } else {
      // Rounded to float32 like the logits, so that a token at exactly mu stays.
      candidates.Keep({ToFinite(threshold), candidates.size()});
    }
  }
  const int64_t drawn = DrawIndex(candidates.logits(), uniform);
  const double surprise = (log_total - candidates.logits()[static_cast<size_t>(drawn)]) / std::numbers::ln2;
  state.mirostat_mu = mu - eta_ * (surprise - tau_);
  return drawn;
}

}  // namespace adit::sample
