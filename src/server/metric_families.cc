#include <algorithm>
#include <limits>
#include <string_view>

#include "server/metric_families_internal.h"

namespace adit::server {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

void MetricFamilies::Add(const char* name, const char* help, MetricType type, ClientMetric metric) {
  auto found = std::find_if(families_.begin(), families_.end(),
                            [&](const MetricFamily& family) { return std::string_view(family.name) == name; });
  if (found == families_.end()) {
    MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    found = families_.insert(families_.end(), std::move(family));
  }
  found->metric.push_back(std::move(metric));
}

void MetricFamilies::Gauge(const char* name, const char* help, double value, MetricLabels labels) {
  ClientMetric metric;
  metric.gauge.value = value;
  metric.label = std::move(labels);
  Add(name, help, MetricType::Gauge, std::move(metric));
}

void MetricFamilies::Count(const char* name, const char* help, double value, MetricLabels labels) {
  ClientMetric metric;
  metric.counter.value = value;
  metric.label = std::move(labels);
  Add(name, help, MetricType::Counter, std::move(metric));
}

void MetricFamilies::AddHistogram(const char* name, const char* help, std::span<const double> bounds,
                                  std::span<const int64_t> counts, double sum, MetricLabels labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  uint64_t up_to = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    up_to += static_cast<uint64_t>(counts[i]);
    const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({.cumulative_count = up_to, .upper_bound = bound});
  }
  metric.histogram.sample_count = up_to;
  metric.histogram.sample_sum = sum;
  Add(name, help, MetricType::Histogram, std::move(metric));
}

}  // namespace adit::server
