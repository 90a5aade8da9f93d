#include "sample/test_rows.h"

#include <algorithm>
#include <cmath>

namespace adit::sample {

std::vector<float> NormalRow(std::mt19937& rng, int64_t vocab_size, double sigma) {
  std::normal_distribution<float> normal(0.0f, static_cast<float>(sigma));
  std::vector<float> row(static_cast<size_t>(vocab_size));
  for (float& logit : row) logit = normal(rng);
  return row;
}

std::vector<float> RowWithTies(std::mt19937& rng, int64_t vocab_size) {
  std::vector<float> row(static_cast<size_t>(vocab_size));
  for (float& logit : row) logit = static_cast<float>(rng() % 17) * 0.5f - 4.0f;
  return row;
}

std::vector<float> LogsOf(const std::vector<double>& probabilities) {
  std::vector<float> row;
  for (const double probability : probabilities) row.push_back(static_cast<float>(std::log(probability)));
  return row;
}

Candidates MakeCandidates(const std::vector<float>& row) {
  Candidates candidates;
  float max = -kTestInfinity;
  for (const float logit : row) max = logit > max ? logit : max;
  candidates.Reset(row, max);
  return candidates;
}

Candidates Apply(const Processor& step, Candidates candidates) {
  SampleScratch scratch;
  step.Apply({.prompt = {}, .output = {}, .scratch = scratch}, candidates);
  return candidates;
}

std::vector<int32_t> IdsOf(const Candidates& candidates) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < candidates.size(); ++i) ids.push_back(candidates.id(i));
  return ids;
}

std::vector<float> LogitsOf(const Candidates& candidates) {
  return {candidates.logits().begin(), candidates.logits().end()};
}

std::vector<int32_t> RankedIds(const std::vector<float>& row) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] > -kTestInfinity) ids.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(ids.begin(), ids.end(),
                   [&](int32_t a, int32_t b) { return row[static_cast<size_t>(a)] > row[static_cast<size_t>(b)]; });
  return ids;
}

std::vector<double> ExactLogSoftmax(const std::vector<float>& row) {
  double max = -kTestInfinity;
  for (const float logit : row) max = logit > max ? logit : max;
  double sum = 0;
  for (const float logit : row) sum += std::isnan(logit) ? 0.0 : std::exp(logit - max);
  std::vector<double> result;
  for (const float logit : row) result.push_back(std::isnan(logit) ? -kTestInfinity : logit - max - std::log(sum));
  return result;
}

std::vector<double> ExactProbabilities(const std::vector<float>& row, const SamplingParams& params) {
  std::vector<int32_t> ids = RankedIds(row);
  const auto logit = [&](size_t rank) { return static_cast<double>(row[static_cast<size_t>(ids[rank])]); };
  if (params.top_k > 0) ids.resize(std::min(ids.size(), static_cast<size_t>(params.top_k)));
  double total = 0;
  for (size_t rank = 0; rank < ids.size(); ++rank) total += std::exp(logit(rank) - logit(0));
  if (params.top_p < 1) {
    size_t kept = 0;
    for (double sum = 0; kept < ids.size() && (kept == 0 || sum < params.top_p * total); ++kept) {
      sum += std::exp(logit(kept) - logit(0));
    }
    ids.resize(kept);
  }
  size_t kept = 0;
  while (kept < ids.size() && std::exp(logit(kept) - logit(0)) >= params.min_p) ++kept;
  ids.resize(kept);
  std::vector<double> probabilities(row.size());
  total = 0;
  for (size_t rank = 0; rank < ids.size(); ++rank) total += std::exp((logit(rank) - logit(0)) / params.temperature);
  for (size_t rank = 0; rank < ids.size(); ++rank) {
    probabilities[static_cast<size_t>(ids[rank])] = std::exp((logit(rank) - logit(0)) / params.temperature) / total;
  }
  return probabilities;
}

}  // namespace adit::sample
