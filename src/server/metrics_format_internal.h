#ifndef ADIT_SERVER_METRICS_FORMAT_INTERNAL_H_
#define ADIT_SERVER_METRICS_FORMAT_INTERNAL_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace adit::server {

// Adds those that vLLM has too, under its names and labels, so that boards made for it show them.
void AddVllmNames(const std::string& model, std::vector<prometheus::MetricFamily>& families);

// OpenMetrics' text format, version 1.0.0.
std::string OpenMetricsText(const std::vector<prometheus::MetricFamily>& families);

}  // namespace adit::server

#endif  // ADIT_SERVER_METRICS_FORMAT_INTERNAL_H_
