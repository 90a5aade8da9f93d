#include "cli/quality_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace adit::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

QualityFigures FiguresOf(const char* type, int64_t bytes, double decode, double kld) {
  return {.type = type,
          .bits_per_weight = 4.5,
          .file_bytes = bytes,
          .peak_bytes = 2 * bytes,
          .prefill_tokens_per_s = 100.0,
          .decode_tokens_per_s = decode,
          .perplexity = 12.5,
          .mean_kld = kld,
          .p99_kld = 10.0 * kld,
          .same_top = 0.9,
          .layer_kld = {kld / 2.0, kld / 4.0, kld / 4.0}};
}

QualityReport SomeReport(QualityGoal goal, double max_kld) {
  return {.model = "m",
          .goal = goal,
          .max_kld = max_kld,
          .settings = {{"text", std::string("t.txt")}, {"processor", std::string("cpu <1>")}},
          .base = FiguresOf("as it was", 1000, 10.0, 0.0),
          .candidates = {FiguresOf("Q8_0", 500, 20.0, 0.001), FiguresOf("Q6_K", 400, 25.0, 0.004),
                         FiguresOf("Q5_0", 420, 30.0, 0.01), FiguresOf("Q4_0", 300, 30.4, 0.04),
                         FiguresOf("F16", 1000, 9.0, 0.0001)}};
}

std::string Recommended(QualityGoal goal, double max_kld) {
  const QualityReport report = SomeReport(goal, max_kld);
  const auto best = Recommend(report);
  return best ? report.candidates[*best].type : "none";
}

TEST(QualityReport, RecommendsByTheGoalWithinTheBound) {
  EXPECT_EQ(Recommended(QualityGoal::kSmallest, 0.05), "Q4_0");
  EXPECT_EQ(Recommended(QualityGoal::kSmallest, 0.02), "Q6_K");
  // Q4_0 is faster by less than runs differ.
  EXPECT_EQ(Recommended(QualityGoal::kFastest, 0.05), "Q5_0");
  EXPECT_EQ(Recommended(QualityGoal::kFastest, 0.005), "Q6_K");
  // F16 is no smaller and slower.
  EXPECT_EQ(Recommended(QualityGoal::kQuality, 0.05), "Q8_0");
  EXPECT_EQ(Recommended(QualityGoal::kQuality, 0.0005), "none");
  EXPECT_THAT(RecommendationText(SomeReport(QualityGoal::kQuality, 0.0005)), HasSubstr("--max-kld"));
}

TEST(QualityReport, FrontLeavesOutWhatIsLargerAndDivergesMore) {
  EXPECT_THAT(ParetoFront(SomeReport(QualityGoal::kSmallest, 1.0).candidates),
              testing::ElementsAre(true, true, false, true, true));
}

TEST(QualityReport, JsonHasEveryFigureAndTheRecommendation) {
  const auto json = nlohmann::json::parse(QualityJson(SomeReport(QualityGoal::kSmallest, 0.02)));
  EXPECT_EQ(json["recommendation"]["type"], "Q6_K");
  EXPECT_EQ(json["candidates"][3]["file_bytes"], 300);
  EXPECT_EQ(json["candidates"][3]["layer_kld_estimate"].size(), 2U);
  EXPECT_EQ(json["candidates"][2]["pareto"], false);
  EXPECT_EQ(json["settings"]["text"], "t.txt");
  const auto none = nlohmann::json::parse(QualityJson(SomeReport(QualityGoal::kSmallest, 0.0)));
  EXPECT_TRUE(none["recommendation"]["type"].is_null());
}

TEST(QualityReport, PageNeedsNothingElseAndEscapesWhatItShows) {
  const std::string html = QualityHtml(SomeReport(QualityGoal::kSmallest, 0.05));
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("<circle"));
  EXPECT_THAT(html, HasSubstr("cpu &lt;1&gt;"));
  EXPECT_THAT(html, HasSubstr("embedding, logits"));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(QualityReport, FiguresOfAFileAreReadBack) {
  const QualityReport report = SomeReport(QualityGoal::kSmallest, 0.05);
  auto values = QualityValues(report, report.candidates[1]);
  const auto kept = ReadQuality(formats::GgufMetadata("m.gguf", values));
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->figures.type, "Q6_K");
  EXPECT_EQ(kept->figures.mean_kld, 0.004);
  EXPECT_EQ(kept->figures.peak_bytes, 800);
  EXPECT_EQ(kept->base_perplexity, 12.5);
  EXPECT_EQ(kept->processor, "cpu <1>");
  values.erase("adit.quality.mean_kld");
  EXPECT_FALSE(ReadQuality(formats::GgufMetadata("m.gguf", std::move(values))).has_value());
}

}  // namespace
}  // namespace adit::cli
