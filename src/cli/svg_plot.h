#ifndef ADIT_CLI_SVG_PLOT_H_
#define ADIT_CLI_SVG_PLOT_H_

#include <string>
#include <string_view>
#include <vector>

#include "sched/distribution_summary.h"

// Small plots as inline SVG for a page that brings the style: classes "axis", "grid", "s0" to "s3" for the series. Each
// scales with its place, and says in words what it shows. All text is escaped.
namespace adit::cli {

// `text` as the content of an HTML element or of an attribute in double quotes; bytes that are no UTF-8, and control
// characters, are made visible.
std::string EscapeHtml(std::string_view text);

struct PlotSeries {
  std::string name;
  std::vector<double> values;  // one for each x
};

struct LinePlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<double> x;           // rising
  std::vector<PlotSeries> series;  // at most 4; they differ in colour and in dashes
};

// Lines from y = 0 up. Empty when there are not at least two points.
std::string SvgLinePlot(const LinePlot& plot);

// Times over a logarithmic axis, as shares of all. Empty when nothing was counted.
std::string SvgTimeHistogram(const std::string& title, const sched::TimeHistogram& histogram);

struct PlotBar {
  std::string label;
  double value = 0.0;
  std::string text;  // at its end
};

// Bars from 0 to the right, with a line at `reference` if it is above 0. Empty without bars.
std::string SvgBars(const std::string& title, const std::vector<PlotBar>& bars, double reference);

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;  // > 0
  std::string label;
  bool on_line = false;  // a line goes through these, from left to right
};

// Points over a linear x axis from 0 and a logarithmic y axis. Empty without points; those that are not above 0 are
// left out.
std::string SvgScatterPlot(const std::string& title, const std::string& x_label, std::vector<PlotPoint> points);

}  // namespace adit::cli

#endif  // ADIT_CLI_SVG_PLOT_H_
