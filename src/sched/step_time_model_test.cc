#include "sched/step_time_model.h"

#include <gtest/gtest.h>

#include <random>

namespace adit::sched {
namespace {

double Truth(const StepLoad& load, double slowness) {
  return slowness * (4e-3 + 3e-4 * static_cast<double>(load.prefill_tokens) + 7e-4 * static_cast<double>(load.decodes) +
                     2e-8 * static_cast<double>(load.context_tokens));
}

StepLoad RandomLoad(std::mt19937& rng) {
  return {.prefill_tokens = static_cast<int64_t>(rng() % 512),
          .decodes = static_cast<int64_t>(rng() % 64),
          .context_tokens = static_cast<int64_t>(rng() % 60000)};
}

TEST(StepTimeModel, LearnsTheFourTermsAndFollowsAMachineThatGrowsSlower) {
  std::mt19937 rng(3);
  StepTimeModel model;
  for (const double slowness : {1.0, 3.0}) {
    for (int step = 0; step < 1000; ++step) {
      const StepLoad load = RandomLoad(rng);
      const double noise = 1.0 + 0.05 * (static_cast<double>(rng() % 1000) / 500.0 - 1.0);
      model.Observe(load, Truth(load, slowness) * noise);
    }
    EXPECT_NEAR(model.SecondsPerPrefillToken(), 3e-4 * slowness, 3e-5 * slowness);
    EXPECT_NEAR(model.SecondsPerDecode(), 7e-4 * slowness, 2e-4 * slowness);
    for (int i = 0; i < 20; ++i) {
      const StepLoad load = RandomLoad(rng);
      EXPECT_NEAR(model.Predict(load), Truth(load, slowness), 0.1 * Truth(load, slowness) + 2e-3);
    }
  }
}

TEST(StepTimeModel, ManyEqualStepsDoNotMakeItForgetTheTerms) {
  std::mt19937 rng(4);
  StepTimeModel model;
  for (int step = 0; step < 300; ++step) {
    const StepLoad load = RandomLoad(rng);
    model.Observe(load, Truth(load, 1.0));
  }
  const StepLoad decodes{.decodes = 8, .context_tokens = 4000};
  for (int step = 0; step < 5000; ++step) model.Observe(decodes, Truth(decodes, 1.0));
  EXPECT_NEAR(model.SecondsPerPrefillToken(), 3e-4, 5e-5);
  EXPECT_NEAR(model.PrefillTokensWithin(decodes, Truth(decodes, 1.0) + 100 * 3e-4), 100.0, 20.0);
}

TEST(StepTimeModel, TermsAreNeverNegative) {
  StepTimeModel model;
  for (int step = 0; step < 100; ++step) {
    model.Observe({.prefill_tokens = 10 * step, .decodes = 1}, 1.0 / (1.0 + step));
    EXPECT_GE(model.Predict({}), 0.0);
    EXPECT_GT(model.SecondsPerPrefillToken(), 0.0);
    EXPECT_GT(model.SecondsPerDecode(), 0.0);
  }
}

}  // namespace
}  // namespace adit::sched
