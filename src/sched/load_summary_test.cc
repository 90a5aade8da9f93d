#include "sched/load_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "sched/distribution_summary.h"
#include "sched/outcome_log.h"
#include "sched/timeline.h"

namespace adit::sched {
namespace {

using testing::ElementsAre;

TEST(Percentile, IsLinearBetweenRanks) {
  std::vector<float> values = {40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(Percentile(values, 0.0), 10.0);
  EXPECT_DOUBLE_EQ(Percentile(values, 1.0), 40.0);
  EXPECT_DOUBLE_EQ(Percentile(values, 0.5), 25.0);        // position 1.5
  EXPECT_DOUBLE_EQ(Percentile(values, 0.9), 37.0);        // position 2.7
  EXPECT_DOUBLE_EQ(Percentile(values, 1.0 / 3.0), 20.0);  // position 1
  std::vector<float> single = {7};
  EXPECT_DOUBLE_EQ(Percentile(single, 0.99), 7.0);
}

TEST(Spread, OfZeroToThousand) {
  std::vector<float> values(1001);
  std::iota(values.begin(), values.end(), 0.0f);
  std::reverse(values.begin(), values.end());
  const Spread spread = SpreadOf(values);
  EXPECT_EQ(spread.count, 1001);
  EXPECT_DOUBLE_EQ(spread.mean, 500.0);
  EXPECT_DOUBLE_EQ(spread.p50, 500.0);
  EXPECT_DOUBLE_EQ(spread.p90, 900.0);
  EXPECT_DOUBLE_EQ(spread.p99, 990.0);
  EXPECT_DOUBLE_EQ(spread.max, 1000.0);
  EXPECT_EQ(SpreadOf({}).count, 0);
}

TEST(TimeHistogram, CountsBySize) {
  TimeHistogram histogram;
  histogram.Add(1.05);
  histogram.Add(1.1);
  histogram.Add(0.0);
  histogram.Add(1e9);
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_EQ(histogram.bins()[120], 2);  // six decades above the first, up to 10^0.05 = 1.122
  EXPECT_EQ(histogram.bins().front(), 1);
  EXPECT_EQ(histogram.bins().back(), 1);
  EXPECT_NEAR(TimeHistogram::LowerEdge(120), 1.0, 1e-12);
  EXPECT_NEAR(TimeHistogram::LowerEdge(TimeHistogram::kNumBins), 1e4, 1e-8);
}

// Arrives at `arrival_s`, starts half a second later; tokens at the times given.
RequestOutcome Complete(double arrival_s, std::vector<double> token_times, int32_t tenant = 0) {
  RequestOutcome outcome{.ending = Ending::kComplete,
                         .tenant = tenant,
                         .arrival_s = arrival_s,
                         .first_step_s = arrival_s + 0.5,
                         .first_token_s = token_times.front(),
                         .finish_s = token_times.back(),
                         .prompt_tokens = 10,
                         .cached_tokens = 4,
                         .output_tokens = static_cast<int64_t>(token_times.size()),
                         .chunks = 2};
  for (size_t i = 1; i < token_times.size(); ++i) {
    outcome.token_gaps.push_back(static_cast<float>(token_times[i] - token_times[i - 1]));
  }
  return outcome;
}

TEST(LoadSummary, IsArithmeticOnOutcomes) {
  std::vector<RequestOutcome> outcomes = {Complete(1.0, {2.0, 2.5, 3.5}), Complete(2.0, {4.0, 6.0})};
  outcomes[0].preemptions = 3;
  outcomes.push_back({.ending = Ending::kQueueFull, .arrival_s = 2.0, .finish_s = 2.0});
  outcomes.push_back({.ending = Ending::kSkipped});
  const LoadSummary summary = Summarize(outcomes, 1, {.first_token_s = 1.5, .token_interval_s = 1.0});
  EXPECT_EQ(summary.requests, 4);
  EXPECT_EQ(summary.ended(Ending::kComplete), 2);
  EXPECT_EQ(summary.ended(Ending::kSkipped), 1);
  EXPECT_EQ(summary.refused(), 1);
  EXPECT_DOUBLE_EQ(summary.duration_s, 5.0);
  EXPECT_DOUBLE_EQ(summary.requests_per_s, 0.4);
  EXPECT_DOUBLE_EQ(summary.prompt_tokens_per_s, 4.0);
  EXPECT_DOUBLE_EQ(summary.output_tokens_per_s, 1.0);
  EXPECT_DOUBLE_EQ(summary.cached_share, 0.4);
  EXPECT_DOUBLE_EQ(summary.ttft_s.mean, 1.5);
  EXPECT_DOUBLE_EQ(summary.ttft_s.p50, 1.5);
  EXPECT_DOUBLE_EQ(summary.ttft_s.max, 2.0);
  EXPECT_EQ(summary.itl_s.count, 3);
  EXPECT_DOUBLE_EQ(summary.itl_s.p50, 1.0);
  EXPECT_DOUBLE_EQ(summary.itl_s.max, 2.0);
  EXPECT_DOUBLE_EQ(summary.tpot_s.mean, (0.75 + 2.0) / 2.0);
  EXPECT_DOUBLE_EQ(summary.e2e_s.mean, (2.5 + 4.0) / 2.0);
  EXPECT_DOUBLE_EQ(summary.queue_s.mean, 0.5);
  EXPECT_EQ(summary.preemptions, 3);
  EXPECT_DOUBLE_EQ(summary.mean_chunks, 2.0);
  EXPECT_EQ(summary.met_objectives, 1);  // the second has a first token after 2 s
  EXPECT_DOUBLE_EQ(summary.goodput_per_s, 0.2);
  EXPECT_EQ(summary.ttft_histogram.count(), 2);
  EXPECT_EQ(summary.itl_histogram.count(), 3);
}

TEST(LoadSummary, KeepsTenantsApart) {
  const std::vector<RequestOutcome> outcomes = {Complete(0.0, {1.0, 2.0}, 0), Complete(0.0, {3.0}, 1),
                                                Complete(0.0, {5.0}, 1)};
  const LoadSummary summary = Summarize(outcomes, 3, {});
  ASSERT_EQ(summary.tenants.size(), 3u);
  EXPECT_EQ(summary.tenants[0].output_tokens, 2);
  EXPECT_DOUBLE_EQ(summary.tenants[1].ttft_s.mean, 4.0);
  EXPECT_EQ(summary.tenants[1].completed, 2);
  EXPECT_EQ(summary.tenants[2].requests, 0);
}

TEST(LoadSummary, OfNothingIsZero) {
  const LoadSummary summary = Summarize({}, 1, {});
  EXPECT_EQ(summary.requests, 0);
  EXPECT_EQ(summary.output_tokens_per_s, 0.0);
  EXPECT_EQ(summary.ttft_s.count, 0);
}

TEST(OutcomeLog, WritesDownTokensAndEnds) {
  const Result<Workload> workload = Workload::Create({.num_requests = 2});
  ASSERT_TRUE(workload.ok());
  OutcomeLog log(*workload);
  log.Arrive(0, 1.0, 7);
  log.Token(0, 2.0);
  log.Token(0, 2.25);
  log.Token(0, 3.0);
  log.End(0, Ending::kComplete, 3.0);
  log.End(1, Ending::kSkipped, 3.0);
  const RequestOutcome& outcome = log[0];
  EXPECT_EQ(outcome.prompt_tokens, 7);
  EXPECT_EQ(outcome.output_tokens, 3);
  EXPECT_EQ(outcome.first_token_s, 2.0);
  EXPECT_EQ(outcome.finish_s, 3.0);
  EXPECT_THAT(outcome.token_gaps, ElementsAre(0.25f, 0.75f));
  EXPECT_EQ(log[1].finish_s, kNever);
  EXPECT_EQ(log.num_ended(), 2);
}

LoadSample SampleOf(int64_t running, int64_t output_tokens) {
  return {.running = running,
          .waiting = 2,
          .pages = {.num_pages = 10, .num_free = 4, .num_cached = 1, .written_tokens = 60, .held_tokens = 80},
          .output_tokens = output_tokens};
}

TEST(Timeline, KeepsSumsHoweverLongItGets) {
  Timeline timeline;
  double now = 0.0;
  for (int i = 0; i < 20'000; ++i) {
    const double begin = now;
    now += 1e-3 * (1 + i % 5);
    timeline.Add(begin, now, SampleOf(4, 3));
  }
  const std::vector<TimelinePoint> points = timeline.Points();
  EXPECT_LE(points.size(), Timeline::kMaxPoints);
  EXPECT_GT(points.size(), Timeline::kMaxPoints / 2);
  EXPECT_DOUBLE_EQ(points.back().end_s, now);
  double tokens = 0.0;
  for (const TimelinePoint& point : points) {
    tokens += point.output_tokens_per_s * (point.end_s - point.begin_s);
    EXPECT_NEAR(point.running, 4.0, 1e-6);
    EXPECT_NEAR(point.waiting, 2.0, 1e-6);
    EXPECT_NEAR(point.used_share, 0.5, 1e-6);
    EXPECT_NEAR(point.cached_share, 0.1, 1e-6);
  }
  EXPECT_NEAR(tokens, 60'000.0, 1e-3);
}

TEST(Timeline, ShowsWhenThingsHappened) {
  Timeline timeline;
  timeline.Add(0.0, 0.1, SampleOf(8, 10));
  timeline.Add(0.3, 0.4, SampleOf(2, 0));
  const std::vector<TimelinePoint> points = timeline.Points();
  EXPECT_DOUBLE_EQ(points.front().running, 8.0);
  EXPECT_DOUBLE_EQ(points.back().running, 2.0);
  EXPECT_EQ(points[points.size() / 2].running, 0.0);
  EXPECT_DOUBLE_EQ(timeline.mean_running(), 5.0);
  EXPECT_EQ(timeline.max_running(), 8);
  EXPECT_EQ(timeline.max_waiting(), 2);
  EXPECT_DOUBLE_EQ(timeline.pages().mean_utilisation, 0.5);
  EXPECT_DOUBLE_EQ(timeline.pages().mean_waste, 0.25);
  EXPECT_DOUBLE_EQ(timeline.pages().waste_at_peak, 0.25);
}

TEST(Timeline, OfNothingIsEmpty) {
  const Timeline timeline;
  EXPECT_TRUE(timeline.Points().empty());
  EXPECT_EQ(timeline.mean_running(), 0.0);
  EXPECT_EQ(timeline.pages().mean_waste, 0.0);
}

}  // namespace
}  // namespace adit::sched
