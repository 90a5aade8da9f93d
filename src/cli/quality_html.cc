// QualityHtml.
#include <fmt/core.h>

#include <algorithm>

#include "cli/html_page.h"
#include "cli/quality_report.h"
#include "cli/svg_plot.h"

namespace adit::cli {
namespace {

constexpr size_t kMostLines = 4;

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::string FigureTiles(const QualityReport& report) {
  const std::optional<size_t> best = Recommend(report);
  if (!best) return "<p>" + EscapeHtml(RecommendationText(report)) + "</p>\n";
  const QualityFigures& chosen = report.candidates[*best];
  const auto tile = [](std::string_view label, const std::string& value) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", label, EscapeHtml(value));
  };
  return "<dl class=\"tiles\">\n" + tile("recommended", chosen.type) +
         tile("bits a weight", fmt::format("{:.2f}", chosen.bits_per_weight)) +
         tile("size", fmt::format("{:.1f} MB", Megabytes(chosen.file_bytes))) +
         tile("decode", fmt::format("{:.1f} tok/s", chosen.decode_tokens_per_s)) +
         tile("mean KL divergence", fmt::format("{:.4f} nats", chosen.mean_kld)) +
         tile("same top token", fmt::format("{:.1f} %", 100.0 * chosen.same_top)) + "</dl>\n<p>" +
         EscapeHtml(RecommendationText(report)) + "</p>\n";
}

std::string Fronts(const QualityReport& report) {
  const std::vector<bool> front = ParetoFront(report.candidates);
  std::vector<PlotPoint> sizes;
  std::vector<PlotPoint> speeds;
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const QualityFigures& candidate = report.candidates[i];
    sizes.push_back(
        {.x = Megabytes(candidate.file_bytes), .y = candidate.mean_kld, .label = candidate.type, .on_line = front[i]});
    const auto outruns = [&](const QualityFigures& other) {
      return other.decode_tokens_per_s >= candidate.decode_tokens_per_s && other.mean_kld <= candidate.mean_kld &&
             &other != &candidate;
    };
    speeds.push_back({.x = candidate.decode_tokens_per_s,
                      .y = candidate.mean_kld,
                      .label = candidate.type,
                      .on_line = std::ranges::none_of(report.candidates, outruns)});
  }
  const char* by_size = "Mean KL divergence (nats) by size";
  const char* by_speed = "Mean KL divergence (nats) by speed";
  return Figure(by_size, SvgScatterPlot(by_size, "file, MB", std::move(sizes))) +
         Figure(by_speed, SvgScatterPlot(by_speed, "decode, tokens/s", std::move(speeds)));
}

std::string Layers(const QualityReport& report) {
  std::vector<const QualityFigures*> shown;
  for (const QualityFigures& candidate : report.candidates) {
    if (candidate.layer_kld.size() > 1) shown.push_back(&candidate);
  }
  if (shown.empty()) return {};
  // The coarsest, where layers differ most; all are in the table.
  std::ranges::stable_sort(shown, std::ranges::greater(), [](const auto* figures) { return figures->mean_kld; });
  LinePlot plot{
      .title = "What rounding each layer costs", .x_label = "layer", .y_label = "nats", .x = {}, .series = {}};
  const size_t num_layers = shown.front()->layer_kld.size() - 1;
  for (size_t layer = 0; layer < num_layers; ++layer) plot.x.push_back(static_cast<double>(layer));
  std::vector<std::string> heads = {"layer"};
  for (const QualityFigures* figures : shown) {
    heads.push_back(figures->type);
    if (plot.series.size() == kMostLines) continue;
    plot.series.push_back(
        {.name = figures->type, .values = {figures->layer_kld.begin(), figures->layer_kld.end() - 1}});
  }
  HtmlTable table("Mean KL divergence (nats) when that layer alone is rounded, estimated from one measured type",
                  heads);
  for (size_t layer = 0; layer <= num_layers; ++layer) {
    std::vector<std::string> cells;
    for (const QualityFigures* figures : shown) cells.push_back(fmt::format("{:.6f}", figures->layer_kld[layer]));
    table.Row(layer < num_layers ? fmt::format("{}", layer) : "embedding, logits", cells);
  }
  return "<h2>Sensitivity of layers</h2>\n" + Figure(plot.title, SvgLinePlot(plot)) + table.Close();
}

}  // namespace

std::string QualityHtml(const QualityReport& report) {
  HtmlTable numbers("The model as it was, and each type",
                    {"type", "bits/weight", "MB", "peak MB", "prefill tok/s", "decode tok/s", "perplexity", "mean KL",
                     "p99 KL", "same top %"});
  const auto add = [&](const QualityFigures& figures) {
    numbers.Row(figures.type,
                {FormatNumber(figures.bits_per_weight, 2), FormatNumber(Megabytes(figures.file_bytes), 1),
                 FormatNumber(Megabytes(figures.peak_bytes), 1), FormatNumber(figures.prefill_tokens_per_s, 1),
                 FormatNumber(figures.decode_tokens_per_s, 1), FormatNumber(figures.perplexity, 3),
                 FormatNumber(figures.mean_kld, 5), FormatNumber(figures.p99_kld, 4),
                 FormatNumber(100.0 * figures.same_top, 2)});
  };
  add(report.base);
  for (const QualityFigures& candidate : report.candidates) add(candidate);
  HtmlTable settings("Settings", {"setting", "value"});
  for (const BenchSetting& setting : report.settings) {
    settings.Row(LabelOf(setting.key), {SettingText(setting)}, /*as_text=*/true);
  }
  return HtmlPage("Types of " + report.model, FigureTiles(report) + "<div class=\"plots\">\n" + Fronts(report) +
                                                  "</div>\n<h2>Numbers</h2>\n" + numbers.Close() + Layers(report) +
                                                  "<h2>How it was run</h2>\n" + settings.Close());
}

}  // namespace adit::cli
