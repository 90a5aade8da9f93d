#include "cli/quality_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/markdown_table.h"

namespace adit::cli {
namespace {

using formats::GgufType;
using formats::GgufValue;

constexpr std::pair<const char*, QualityGoal> kGoals[] = {
    {"smallest", QualityGoal::kSmallest}, {"fastest", QualityGoal::kFastest}, {"quality", QualityGoal::kQuality}};

// Runs of one file differ by about this much.
constexpr double kSameSpeed = 0.98;

const char* GoalName(QualityGoal goal) {
  for (const auto& [name, known] : kGoals) {
    if (known == goal) return name;
  }
  return "";
}

bool IsAllowed(const QualityReport& report, const QualityFigures& candidate) {
  if (!(candidate.mean_kld <= report.max_kld)) return false;
  if (report.goal != QualityGoal::kQuality) return true;
  return candidate.file_bytes < report.base.file_bytes &&
         candidate.decode_tokens_per_s > report.base.decode_tokens_per_s;
}

std::string SettingOf(const QualityReport& report, std::string_view key) {
  for (const BenchSetting& setting : report.settings) {
    if (setting.key == key) return SettingText(setting);
  }
  return {};
}

nlohmann::ordered_json FiguresJson(const QualityFigures& figures) {
  return {{"type", figures.type},
          {"bits_per_weight", figures.bits_per_weight},
          {"file_bytes", figures.file_bytes},
          {"peak_bytes", figures.peak_bytes},
          {"prefill_tokens_per_s", figures.prefill_tokens_per_s},
          {"decode_tokens_per_s", figures.decode_tokens_per_s},
          {"perplexity", figures.perplexity},
          {"mean_kld", figures.mean_kld},
          {"p99_kld", figures.p99_kld},
          {"same_top", figures.same_top}};
}

}  // namespace

std::optional<QualityGoal> ParseQualityGoal(const std::string& name) {
  for (const auto& [known, goal] : kGoals) {
    if (known == name) return goal;
  }
  return std::nullopt;
}

std::vector<bool> ParetoFront(const std::vector<QualityFigures>& candidates) {
  const auto beats = [](const QualityFigures& a, const QualityFigures& b) {
    return a.file_bytes <= b.file_bytes && a.mean_kld <= b.mean_kld &&
           (a.file_bytes < b.file_bytes || a.mean_kld < b.mean_kld);
  };
  std::vector<bool> front;
  for (const QualityFigures& candidate : candidates) {
    front.push_back(
        std::ranges::none_of(candidates, [&](const QualityFigures& other) { return beats(other, candidate); }));
  }
  return front;
}

std::optional<size_t> Recommend(const QualityReport& report) {
  std::optional<size_t> best;
  double fastest = 0.0;
  for (const QualityFigures& candidate : report.candidates) {
    if (IsAllowed(report, candidate)) fastest = std::max(fastest, candidate.decode_tokens_per_s);
  }
  const auto is_better = [&](const QualityFigures& a, const QualityFigures& b) {
    if (report.goal == QualityGoal::kSmallest && a.file_bytes != b.file_bytes) return a.file_bytes < b.file_bytes;
    return a.mean_kld < b.mean_kld;
  };
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const QualityFigures& candidate = report.candidates[i];
    if (!IsAllowed(report, candidate)) continue;
    if (report.goal == QualityGoal::kFastest && candidate.decode_tokens_per_s < kSameSpeed * fastest) continue;
    if (!best || is_better(candidate, report.candidates[*best])) best = i;
  }
  return best;
}

std::string RecommendationText(const QualityReport& report) {
  const std::optional<size_t> best = Recommend(report);
  const std::string bound = fmt::format("a mean KL divergence of at most {:g} nats a token", report.max_kld);
  if (!best) {
    const bool also = report.goal == QualityGoal::kQuality;
    return fmt::format("None of the types has {}{}; a larger --max-kld or other --types may do.", bound,
                       also ? ", is smaller than the model was and decodes faster" : "");
  }
  const QualityFigures& chosen = report.candidates[*best];
  const char* why = report.goal == QualityGoal::kSmallest  ? "the smallest file"
                    : report.goal == QualityGoal::kFastest ? "the fastest to decode, and of those the most accurate,"
                                                           : "the most accurate of the smaller and faster ones";
  return fmt::format(
      "{}: {} with {}. It takes {:.0f} % of the size, decodes {:.2f} times as fast, and diverges by "
      "{:.4f} nats.",
      chosen.type, why, bound,
      100.0 * static_cast<double>(chosen.file_bytes) / static_cast<double>(report.base.file_bytes),
      chosen.decode_tokens_per_s / report.base.decode_tokens_per_s, chosen.mean_kld);
}

std::string QualityText(const QualityReport& report) {
  std::vector<std::vector<std::string>> rows = {{"type", "bits/weight", "MB", "peak MB", "prefill tok/s",
                                                 "decode tok/s", "perplexity", "mean KL", "p99 KL", "same top %"}};
  const auto add = [&](const QualityFigures& figures) {
    rows.push_back({MarkdownCell(figures.type), fmt::format("{:.2f}", figures.bits_per_weight),
                    fmt::format("{:.1f}", static_cast<double>(figures.file_bytes) / 1e6),
                    fmt::format("{:.1f}", static_cast<double>(figures.peak_bytes) / 1e6),
                    fmt::format("{:.1f}", figures.prefill_tokens_per_s),
                    fmt::format("{:.1f}", figures.decode_tokens_per_s), fmt::format("{:.3f}", figures.perplexity),
                    fmt::format("{:.5f}", figures.mean_kld), fmt::format("{:.4f}", figures.p99_kld),
                    fmt::format("{:.2f}", 100.0 * figures.same_top)});
  };
  add(report.base);
  for (const QualityFigures& candidate : report.candidates) add(candidate);
  return MarkdownTable(rows) + "\n" + RecommendationText(report) + "\n";
}

std::string QualityJson(const QualityReport& report) {
  nlohmann::ordered_json json = {{"model", report.model}};
  for (const BenchSetting& setting : report.settings) {
    std::visit([&](const auto& value) { json["settings"][setting.key] = value; }, setting.value);
  }
  json["base"] = FiguresJson(report.base);
  const std::vector<bool> front = ParetoFront(report.candidates);
  json["candidates"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    nlohmann::ordered_json candidate = FiguresJson(report.candidates[i]);
    candidate["pareto"] = static_cast<bool>(front[i]);
    std::vector<double> layers = report.candidates[i].layer_kld;
    candidate["ends_kld_estimate"] = layers.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(layers.back());
    if (!layers.empty()) layers.pop_back();
    candidate["layer_kld_estimate"] = layers;
    json["candidates"].push_back(std::move(candidate));
  }
  const std::optional<size_t> best = Recommend(report);
  json["recommendation"] = {{"goal", GoalName(report.goal)},
                            {"max_kld", report.max_kld},
                            {"type", best ? nlohmann::ordered_json(report.candidates[*best].type) : nullptr},
                            {"text", RecommendationText(report)}};
  return json.dump(2, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::map<std::string, GgufValue, std::less<>> QualityValues(const QualityReport& report,
                                                            const QualityFigures& figures) {
  std::map<std::string, GgufValue, std::less<>> values;
  const auto add = [&](const char* key, GgufType type, auto value) {
    values[std::string("adit.quality.") + key] = {.type = type, .value = value};
  };
  add("type", GgufType::kString, figures.type);
  add("text", GgufType::kString, SettingOf(report, "text"));
  add("processor", GgufType::kString, SettingOf(report, "processor"));
  add("bits_per_weight", GgufType::kF64, figures.bits_per_weight);
  add("peak_bytes", GgufType::kU64, static_cast<uint64_t>(figures.peak_bytes));
  add("prefill_tokens_per_s", GgufType::kF64, figures.prefill_tokens_per_s);
  add("decode_tokens_per_s", GgufType::kF64, figures.decode_tokens_per_s);
  add("perplexity", GgufType::kF64, figures.perplexity);
  add("base_perplexity", GgufType::kF64, report.base.perplexity);
  add("mean_kld", GgufType::kF64, figures.mean_kld);
  add("p99_kld", GgufType::kF64, figures.p99_kld);
  add("same_top", GgufType::kF64, figures.same_top);
  return values;
}

std::optional<KeptQuality> ReadQuality(const formats::GgufMetadata& metadata) {
  KeptQuality kept;
  bool whole = true;
  const auto text = [&](const char* key, std::string& out) {
    const GgufValue* value = metadata.Find(std::string("adit.quality.") + key);
    const auto* held = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    if (held != nullptr) out = *held;
    whole &= held != nullptr;
  };
  const auto number = [&](const char* key, double& out) {
    const GgufValue* value = metadata.Find(std::string("adit.quality.") + key);
    const auto* held = value == nullptr ? nullptr : std::get_if<double>(&value->value);
    if (held != nullptr) out = *held;
    whole &= held != nullptr;
  };
  QualityFigures& figures = kept.figures;
  text("type", figures.type);
  text("text", kept.text);
  text("processor", kept.processor);
  number("bits_per_weight", figures.bits_per_weight);
  number("prefill_tokens_per_s", figures.prefill_tokens_per_s);
  number("decode_tokens_per_s", figures.decode_tokens_per_s);
  number("perplexity", figures.perplexity);
  number("base_perplexity", kept.base_perplexity);
  number("mean_kld", figures.mean_kld);
  number("p99_kld", figures.p99_kld);
  number("same_top", figures.same_top);
  const GgufValue* peak = metadata.Find("adit.quality.peak_bytes");
  const auto* peak_bytes = peak == nullptr ? nullptr : std::get_if<uint64_t>(&peak->value);
  if (peak_bytes != nullptr) figures.peak_bytes = static_cast<int64_t>(std::min<uint64_t>(*peak_bytes, INT64_MAX));
  return whole ? std::optional(kept) : std::nullopt;
}

}  // namespace adit::cli
