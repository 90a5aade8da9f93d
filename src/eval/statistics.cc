#include "eval/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace adit::eval {

double LogSumExp(std::span<const float> row) {
  ADIT_DCHECK(!row.empty());
  const float largest = *std::max_element(row.begin(), row.end());
  double sum = 0.0;
  for (const float x : row) sum += static_cast<double>(std::exp(x - largest));
  return static_cast<double>(largest) + std::log(sum);
}

double MeanWithError::error() const {
  if (count_ < 2) return 0.0;
  const auto n = static_cast<double>(count_);
  return std::sqrt(squares_ / n / (n - 1.0));
}

double Quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0.0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double Perplexity::value() const { return std::exp(nll_.mean()); }

void Divergence::Add(std::span<const float> base, std::span<const float> logits, int32_t next) {
  ADIT_DCHECK(base.size() == logits.size() && next >= 0 && static_cast<size_t>(next) < base.size());
  const double log_sum = LogSumExp(logits);
  double divergence = 0.0;
  for (size_t i = 0; i < base.size(); ++i) {
    if (base[i] <= least_) continue;
    const double p = std::exp(static_cast<double>(base[i]));
    divergence += p * (static_cast<double>(base[i]) - (static_cast<double>(logits[i]) - log_sum));
  }
  const auto at = static_cast<size_t>(next);
  const double base_nll = -static_cast<double>(base[at]);
  const double nll = log_sum - static_cast<double>(logits[at]);
  const double change = std::exp(-nll) - std::exp(-base_nll);
  base_.Add(base_nll);
  model_.Add(nll);
  divergence_.Add(divergence);
  log_ratio_.Add(nll - base_nll);
  const auto top = [](std::span<const float> row) { return std::max_element(row.begin(), row.end()) - row.begin(); };
  same_top_.Add(top(base) == top(logits) ? 1.0 : 0.0);
  change_.Add(change);
  change_squared_.Add(change * change);
  divergences_.push_back(divergence);
  is_sorted_ = false;
}

double Divergence::probability_change_rms() const { return std::sqrt(change_squared_.mean()); }

double Divergence::DivergenceQuantile(double q) const {
  if (!is_sorted_) std::sort(divergences_.begin(), divergences_.end());
  is_sorted_ = true;
  return Quantile(divergences_, q);
}

}  // namespace adit::eval
