#include "cli/svg_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "cli/printable.h"

namespace adit::cli {
namespace {

// In units of the drawing, which a phone shows at about one pixel each.
constexpr double kWidth = 420.0;
constexpr double kHeight = 240.0;
constexpr double kLeft = 52.0;
constexpr double kRight = 12.0;
constexpr double kTop = 30.0;
constexpr double kBottom = 40.0;
constexpr double kCharWidth = 6.5;  // of the smaller font
constexpr size_t kMaxSeries = 4;

// Maps values to places between two ends.
struct Scale {
  double low;
  double high;
  double from;
  double to;
  double operator()(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

// The least of 1, 2, 5, 10, ... that makes at most `most` steps of `range`.
double NiceStep(double range, int most) {
  const double power = std::pow(10.0, std::floor(std::log10(range / most)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= most) return factor * power;
  }
  return 10.0 * power;
}

// "1.5k" for 1500.
std::string TickText(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string TimeText(double seconds) {
  if (seconds < 0.9995e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string Text(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, EscapeHtml(text));
}

std::string Line(std::string_view style, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", style, x1, y1, x2,
                     y2);
}

std::string Open(double height, const std::string& title, const std::string& description) {
  return fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}. {}\">\n", kWidth, height,
                     EscapeHtml(title), EscapeHtml(description));
}

// The horizontal lines and what stands at them, from 0 to `high`.
std::string YAxis(const Scale& y, double high, std::string_view unit) {
  std::string svg;
  const double step = NiceStep(high, 5);
  for (int i = 0; i * step <= high * (1.0 + 1e-9); ++i) {
    svg += Line(i == 0 ? "axis" : "grid", kLeft, y(i * step), kWidth - kRight, y(i * step));
    svg += Text(kLeft - 6.0, y(i * step) + 4.0, "end", TickText(i * step) + std::string(unit)) + "\n";
  }
  return svg;
}

// A mark and a name for each series, above the plot.
std::string Legend(const std::vector<PlotSeries>& series) {
  std::string svg;
  double x = kLeft;
  for (size_t i = 0; i < series.size(); ++i) {
    svg += Line(fmt::format("line s{}", i), x, 12.0, x + 18.0, 12.0) + Text(x + 23.0, 16.0, "start", series[i].name);
    x += 36.0 + kCharWidth * static_cast<double>(series[i].name.size());
  }
  return svg + "\n";
}

std::string Described(const LinePlot& plot) {
  std::string text;
  for (const PlotSeries& series : plot.series) {
    const double most = *std::max_element(series.values.begin(), series.values.end());
    text += fmt::format("{}{}: at most {:.4g}", text.empty() ? "" : "; ", series.name, most);
  }
  return text;
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : EscapeControls(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string SvgLinePlot(const LinePlot& plot) {
  if (plot.x.size() < 2 || plot.series.empty() || plot.x.back() <= plot.x.front()) return {};
  ADIT_CHECK(plot.series.size() <= kMaxSeries);
  double high = 0.0;
  for (const PlotSeries& series : plot.series) {
    ADIT_CHECK(series.values.size() == plot.x.size());
    high = std::max(high, *std::max_element(series.values.begin(), series.values.end()));
  }
  if (high <= 0.0) high = 1.0;
  const Scale x{plot.x.front(), plot.x.back(), kLeft, kWidth - kRight};
  const Scale y{0.0, high, kHeight - kBottom, kTop};
  std::string svg = Open(kHeight, plot.title, Described(plot)) + Legend(plot.series) + YAxis(y, high, "");
  const double step = NiceStep(x.high - x.low, 6);
  for (double tick = std::ceil(x.low / step) * step; tick <= x.high * (1.0 + 1e-9); tick += step) {
    svg += Text(x(tick), kHeight - kBottom + 16.0, "middle", TickText(tick));
  }
  svg += Text((kLeft + kWidth - kRight) / 2.0, kHeight - 6.0, "middle", plot.x_label) + "\n";
  for (size_t i = 0; i < plot.series.size(); ++i) {
    svg += fmt::format("<polyline class=\"line s{}\" points=\"", i);
    for (size_t k = 0; k < plot.x.size(); ++k) {
      svg += fmt::format("{:.1f},{:.1f} ", x(plot.x[k]), y(std::max(0.0, plot.series[i].values[k])));
    }
    svg += "\"/>\n";
  }
  return svg + "</svg>\n";
}

std::string SvgTimeHistogram(const std::string& title, const sched::TimeHistogram& histogram) {
  if (histogram.count() == 0) return {};
  const auto bins = histogram.bins();
  const auto is_used = [](int64_t count) { return count > 0; };
  const auto first = static_cast<size_t>(std::find_if(bins.begin(), bins.end(), is_used) - bins.begin());
  const auto end = static_cast<size_t>(bins.rend() - std::find_if(bins.rbegin(), bins.rend(), is_used));
  const double total = static_cast<double>(histogram.count());
  const double high = 100.0 * static_cast<double>(*std::max_element(bins.begin(), bins.end())) / total;
  // At least a decade, so that a few bins do not fill the plot.
  const size_t width = std::max<size_t>(end - first, sched::TimeHistogram::kBinsPerDecade);
  const size_t begin = std::min(first, sched::TimeHistogram::kNumBins - width);
  const Scale x{static_cast<double>(begin), static_cast<double>(begin + width), kLeft, kWidth - kRight};
  const Scale y{0.0, high, kHeight - kBottom, kTop};
  using sched::TimeHistogram;
  std::string svg =
      Open(kHeight, title,
           fmt::format("{} values from {} to {}", histogram.count(), TimeText(TimeHistogram::LowerEdge(first)),
                       TimeText(TimeHistogram::LowerEdge(end))));
  svg += YAxis(y, high, "%");
  for (size_t i = first; i < end; ++i) {
    if (bins[i] == 0) continue;
    const double share = 100.0 * static_cast<double>(bins[i]) / total;
    svg += fmt::format(
        "<rect class=\"bar s0\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
        "<title>{} to {}: {:.2f}%</title></rect>\n",
        x(static_cast<double>(i)) + 0.5, y(share), std::max(0.8, x(1.0) - x(0.0) - 1.0), y(0.0) - y(share),
        TimeText(TimeHistogram::LowerEdge(i)), TimeText(TimeHistogram::LowerEdge(i + 1)), share);
  }
  // Ticks at every so many bins, ends of decades among them.
  const size_t stride = width > 60 ? TimeHistogram::kBinsPerDecade : width > 30 ? 10 : 5;
  for (size_t i = (begin + stride - 1) / stride * stride; i <= begin + width; i += stride) {
    svg += Text(x(static_cast<double>(i)), kHeight - kBottom + 16.0, "middle", TimeText(TimeHistogram::LowerEdge(i)));
  }
  return svg + "\n</svg>\n";
}

std::string SvgBars(const std::string& title, const std::vector<PlotBar>& bars, double reference) {
  if (bars.empty()) return {};
  constexpr double kRow = 34.0;
  constexpr double kBarTop = 18.0;
  constexpr double kBarHeight = 12.0;
  const double height = kRow * static_cast<double>(bars.size()) + 8.0;
  double high = reference;
  std::string description;
  for (const PlotBar& bar : bars) {
    high = std::max(high, bar.value);
    description += fmt::format("{}{}: {}", description.empty() ? "" : "; ", bar.label, bar.text);
  }
  const Scale x{0.0, high > 0.0 ? high : 1.0, 4.0, kWidth - 70.0};
  std::string svg = Open(height, title, description);
  for (size_t i = 0; i < bars.size(); ++i) {
    const double top = kRow * static_cast<double>(i);
    svg += Text(4.0, top + 13.0, "start", bars[i].label);
    svg += fmt::format("<rect class=\"bar s0\" x=\"4\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:g}\"/>", top + kBarTop,
                       std::max(0.5, x(bars[i].value) - 4.0), kBarHeight);
    if (reference > 0.0) {
      svg += Line("reference", x(reference), top + kBarTop - 2.0, x(reference), top + kBarTop + kBarHeight + 2.0);
    }
    svg += Text(x(bars[i].value) + 6.0, top + kBarTop + 11.0, "start", bars[i].text) + "\n";
  }
  return svg + "</svg>\n";
}

std::string SvgScatterPlot(const std::string& title, const std::string& x_label, std::vector<PlotPoint> points) {
  std::erase_if(points, [](const PlotPoint& point) { return !(point.y > 0.0 && std::isfinite(point.y)); });
  if (points.empty()) return {};
  std::ranges::stable_sort(points, {}, &PlotPoint::x);
  const auto [least, most] = std::ranges::minmax(points, {}, &PlotPoint::y);
  const double low = std::floor(std::log10(least.y));
  const double high = std::max(low + 1.0, std::ceil(std::log10(most.y)));
  const Scale x{0.0, points.back().x > 0.0 ? points.back().x : 1.0, kLeft, kWidth - 4.0 * kRight};
  const Scale y{low, high, kHeight - kBottom, kTop};
  std::string description;
  for (const PlotPoint& point : points) {
    description +=
        fmt::format("{}{}: {:.4g} at {:.4g}", description.empty() ? "" : "; ", point.label, point.y, point.x);
  }
  std::string svg = Open(kHeight, title, description);
  for (double power = low; power <= high; power += 1.0) {
    svg += Line(power == low ? "axis" : "grid", kLeft, y(power), kWidth - kRight, y(power));
    svg += Text(kLeft - 6.0, y(power) + 4.0, "end", fmt::format("{:g}", std::pow(10.0, power))) + "\n";
  }
  const double step = NiceStep(x.high, 5);
  for (double tick = 0.0; tick <= x.high * (1.0 + 1e-9); tick += step) {
    svg += Text(x(tick), kHeight - kBottom + 16.0, "middle", TickText(tick));
  }
  svg += Text((kLeft + kWidth - kRight) / 2.0, kHeight - 6.0, "middle", x_label) +
         "\n<polyline class=\"line s0\" points=\"";
  for (const PlotPoint& point : points) {
    if (point.on_line) svg += fmt::format("{:.1f},{:.1f} ", x(point.x), y(std::log10(point.y)));
  }
  svg += "\"/>\n";
  for (const PlotPoint& point : points) {
    const double at_x = x(point.x);
    const double at_y = y(std::log10(point.y));
    svg += fmt::format("<circle class=\"bar s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", point.on_line ? 0 : 1, at_x,
                       at_y);
    // What would run over the right end stands to the left.
    const bool fits = at_x + 8.0 + kCharWidth * static_cast<double>(point.label.size()) < kWidth;
    svg += Text(at_x + (fits ? 7.0 : -7.0), at_y - 5.0, fits ? "start" : "end", point.label) + "\n";
  }
  return svg + "</svg>\n";
}

}  // namespace adit::cli
