#ifndef ADIT_SERVER_METRIC_FAMILIES_INTERNAL_H_
#define ADIT_SERVER_METRIC_FAMILIES_INTERNAL_H_

#include <prometheus/metric_family.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "server/metrics.h"

namespace adit::server {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

// Families of metrics that are made when somebody asks, from figures that others keep. Each name has one family, with
// the help that came with its first metric.
class MetricFamilies {
 public:
  explicit MetricFamilies(std::vector<prometheus::MetricFamily> families) : families_(std::move(families)) {}

  void Gauge(const char* name, const char* help, double value, MetricLabels labels);
  void Count(const char* name, const char* help, double value, MetricLabels labels);
  template <const auto& kBounds>
  void AddHistogram(const char* name, const char* help, const Histogram<kBounds>& histogram, MetricLabels labels) {
    AddHistogram(name, help, kBounds, histogram.counts, histogram.sum, std::move(labels));
  }
  // 1 with labels that say what is.
  void Info(const char* name, const char* help, MetricLabels labels) { Gauge(name, help, 1.0, std::move(labels)); }

  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  void Add(const char* name, const char* help, prometheus::MetricType type, prometheus::ClientMetric metric);
  // `counts`: one more than there are bounds.
  void AddHistogram(const char* name, const char* help, std::span<const double> bounds, std::span<const int64_t> counts,
                    double sum, MetricLabels labels);

  std::vector<prometheus::MetricFamily> families_;
};

// Those of a model; of its speed as shares of `peak_bytes_per_s`, if that is known.
void AddModel(const ModelFigures& model, double peak_bytes_per_s, MetricFamilies& out);

}  // namespace adit::server

#endif  // ADIT_SERVER_METRIC_FAMILIES_INTERNAL_H_
