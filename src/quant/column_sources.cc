#include "quant/column_sources.h"

#include <algorithm>

namespace adit::quant {
namespace {

size_t NumSources(ColumnSources sources) { return static_cast<size_t>(std::ranges::max(sources)) + 1; }

}  // namespace

std::vector<int64_t> SourcesOfAttended(int64_t n, int64_t v_dim, int64_t heads_per_kv_head) {
  std::vector<int64_t> sources;
  for (int64_t i = 0; i < n; ++i) sources.push_back(i / v_dim / heads_per_kv_head * v_dim + i % v_dim);
  return sources;
}

std::vector<float> MeanOfSources(std::vector<float> values, ColumnSources sources) {
  if (sources.empty()) return values;
  std::vector<float> sums(NumSources(sources));
  std::vector<float> counts(sums.size());
  for (size_t i = 0; i < values.size(); ++i) {
    sums[static_cast<size_t>(sources[i])] += values[i];
    counts[static_cast<size_t>(sources[i])] += 1.0f;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const auto source = static_cast<size_t>(sources[i]);
    values[i] = sums[source] / counts[source];
  }
  return values;
}

std::vector<float> LargestOfSources(std::vector<float> values, ColumnSources sources) {
  if (sources.empty()) return values;
  std::vector<float> largest(NumSources(sources));
  for (size_t i = 0; i < values.size(); ++i) {
    float& peak = largest[static_cast<size_t>(sources[i])];
    peak = std::max(peak, values[i]);
  }
  for (size_t i = 0; i < values.size(); ++i) values[i] = largest[static_cast<size_t>(sources[i])];
  return values;
}

}  // namespace adit::quant
