#ifndef ADIT_CLI_QUALITY_REPORT_H_
#define ADIT_CLI_QUALITY_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench_report.h"
#include "formats/gguf_metadata.h"

// What types of a model's weights cost and gain on this machine, and how it is told.
namespace adit::cli {

// What was measured of one file.
struct QualityFigures {
  std::string type;  // "Q4_K_M"
  double bits_per_weight = 0.0;
  int64_t file_bytes = 0;
  int64_t peak_bytes = 0;  // of memory, while it was timed; 0: not known
  double prefill_tokens_per_s = 0.0;
  double decode_tokens_per_s = 0.0;
  double perplexity = 0.0;
  // Of its predictions from those of the model as it was: Kullback-Leibler divergence in nats a token, and the share of
  // tokens after which both hold the same token for the most likely. Of the model itself: 0 and 1.
  double mean_kld = 0.0;
  double p99_kld = 0.0;
  double same_top = 1.0;
  // Estimates of what the rounding of each layer costs, in nats; last that of the embedding and of the logits' matrix.
  std::vector<double> layer_kld;
};

enum class QualityGoal : uint8_t { kSmallest, kFastest, kQuality };
// "smallest", "fastest" or "quality"; none for another word.
std::optional<QualityGoal> ParseQualityGoal(const std::string& name);

struct QualityReport {
  std::string model;
  QualityGoal goal = QualityGoal::kFastest;
  double max_kld = 0.0;
  std::vector<BenchSetting> settings;
  QualityFigures base;  // the model as it was
  std::vector<QualityFigures> candidates;
};

// Whether each candidate is such that none that is no larger diverges less, and none that diverges no more is smaller.
std::vector<bool> ParetoFront(const std::vector<QualityFigures>& candidates);

// The candidate that serves the goal best of those whose mean divergence is at most max_kld. kSmallest: the smallest
// file. kFastest: the most decoded tokens a second; within 2 % of that, which repeated runs differ by, the most
// accurate. kQuality: the least divergence of those that are smaller than the model was and decode faster. None where
// no candidate will do.
std::optional<size_t> Recommend(const QualityReport& report);
// Why, in a sentence, or why none is.
std::string RecommendationText(const QualityReport& report);

// A table for a terminal; one JSON object; a page that needs nothing else.
std::string QualityText(const QualityReport& report);
std::string QualityJson(const QualityReport& report);
std::string QualityHtml(const QualityReport& report);

// The figures as values of a GGUF file, "adit.quality.*", and back; none for a file without them.
std::map<std::string, formats::GgufValue, std::less<>> QualityValues(const QualityReport& report,
                                                                     const QualityFigures& figures);
struct KeptQuality {
  QualityFigures figures;
  double base_perplexity = 0.0;
  std::string text;       // what it was judged on
  std::string processor;  // where it was timed
};
std::optional<KeptQuality> ReadQuality(const formats::GgufMetadata& metadata);

}  // namespace adit::cli

#endif  // ADIT_CLI_QUALITY_REPORT_H_
