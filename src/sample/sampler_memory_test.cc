#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "sample/sampler.h"
#include "sample/test_allocations.h"
#include "sample/test_rows.h"

namespace adit::sample {
namespace {

constexpr int64_t kVocabSize = 5'000;

// Rows of every kind, so that no step meets in the counted rounds what it has not met before.
std::vector<std::vector<float>> MakeRows() {
  std::mt19937 rng(1);
  std::vector<std::vector<float>> rows;
  for (const double sigma : {0.01, 1.0, 4.0, 30.0}) rows.push_back(NormalRow(rng, kVocabSize, sigma));
  rows.push_back(RowWithTies(rng, kVocabSize));
  rows.emplace_back(kVocabSize, 1.0f);
  rows.push_back(NormalRow(rng, kVocabSize, 1));
  rows.back()[17] = kTestNaN;
  rows.back()[18] = kTestInfinity;
  return rows;
}

void ExpectNoAllocation(const SamplingParams& params) {
  const std::vector<std::vector<float>> rows = MakeRows();
  const std::vector<int32_t> prompt = {1, 2, 3, 3};
  const std::vector<int32_t> output(100, 4);
  Result<Sampler> sampler = Sampler::Create(params, kVocabSize);
  ASSERT_TRUE(sampler.ok());
  ASSERT_TRUE(sampler->Sample(rows[1], prompt, output, 0).ok());
  const int64_t before = NumAllocations();
  int64_t num_failed = 0;
  for (int64_t position = 0; position < 70; ++position) {
    const auto& row = rows[static_cast<size_t>(position) % rows.size()];
    num_failed += sampler->Sample(row, prompt, output, position).ok() ? 0 : 1;
  }
  EXPECT_EQ(NumAllocations() - before, 0);
  EXPECT_EQ(num_failed, 0);
}

TEST(SamplerMemory, TheCounterCounts) {
  const int64_t before = NumAllocations();
  std::vector<int> memory(10);
  EXPECT_EQ(NumAllocations() - before, 1) << memory.size();
}

TEST(SamplerMemory, GreedyAllocatesNothing) {
  SamplingParams params;
  params.temperature = 0;
  ExpectNoAllocation(params);
  params.repetition_penalty = 1.1;
  params.top_logprobs = 20;
  ExpectNoAllocation(params);
}

TEST(SamplerMemory, DrawingAllocatesNothing) { ExpectNoAllocation({}); }

TEST(SamplerMemory, FiltersAllocateNothing) {
  SamplingParams params;
  params.top_k = 40;
  ExpectNoAllocation(params);
  params.top_k = 4'000;
  ExpectNoAllocation(params);
  params = {};
  params.top_p = 0.95;
  ExpectNoAllocation(params);
  params = {};
  params.min_p = 0.05;
  ExpectNoAllocation(params);
}

TEST(SamplerMemory, EverythingAtOnceAllocatesNothing) {
  SamplingParams params;
  params.logit_bias = {{5, 3.0}, {6, -std::numeric_limits<double>::infinity()}};
  params.repetition_penalty = 1.2;
  params.presence_penalty = 0.5;
  params.frequency_penalty = 0.5;
  params.top_k = 1'000;
  params.top_p = 0.9;
  params.min_p = 0.01;
  params.temperature = 0.8;
  params.top_logprobs = 20;
  ExpectNoAllocation(params);
}

}  // namespace
}  // namespace adit::sample
