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
  // Steps that act now and then, as XTC does, have acted after these, and filters have met the most candidates.
  for (int64_t position = 0; position < 21; ++position) {
    const auto& row = rows[static_cast<size_t>(position) % rows.size()];
    ASSERT_TRUE(sampler->Sample(row, prompt, output, position).ok());
  }
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

TEST(SamplerMemory, AMaskAllocatesNothing) {
  std::mt19937 rng(1);
  const std::vector<float> row = NormalRow(rng, kVocabSize, 1);
  std::vector<uint32_t> mask((kVocabSize + 31) / 32);
  for (uint32_t& word : mask) word = rng();
  Sampler sampler = *Sampler::Create({}, kVocabSize);
  for (int64_t position = 0; position < 3; ++position)
    ASSERT_TRUE(sampler.Sample(row, {}, {}, position, {}, mask).ok());
  const int64_t before = NumAllocations();
  int64_t num_failed = 0;
  for (int64_t position = 0; position < 20; ++position) {
    num_failed += sampler.Sample(row, {}, {}, position, {}, mask).ok() ? 0 : 1;
  }
  EXPECT_EQ(NumAllocations() - before, 0);
  EXPECT_EQ(num_failed, 0);
}

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

TEST(SamplerMemory, OtherStepsAllocateNothing) {
  using MemoryChange = void (*)(SamplingParams&);
  for (const MemoryChange change :
       std::vector<MemoryChange>{[](auto& p) { p.typical_p = 0.5; }, [](auto& p) { p.top_n_sigma = 1; },
                                 [](auto& p) { p.xtc_probability = 0.5, p.xtc_threshold = 1e-4; },
                                 [](auto& p) { p.dynatemp_range = 0.5; }, [](auto& p) { p.mirostat = 1; },
                                 [](auto& p) { p.mirostat = 2; }, [](auto& p) { p.no_repeat_ngram_size = 3; },
                                 [](auto& p) {
                                   p.bad_words = {{4, 4}, {7}};
                                 },
                                 [](auto& p) {
                                   p.allowed_token_ids = {17, 18, 19};
                                 }}) {
    SamplingParams params;
    change(params);
    ExpectNoAllocation(params);
  }
  SamplingParams params;
  params.dry_multiplier = 1;
  params.dry_sequence_breakers = {.tokens = {3}, .sequences = {{3, 2}, {3, 4}, {5, 4}}};
  ExpectNoAllocation(params);
  params.temperature = 0;
  ExpectNoAllocation(params);
}

TEST(SamplerMemory, EverythingAtOnceAllocatesNothing) {
  SamplingParams params;
  params.bad_words = {{7}, {4, 8}};
  params.no_repeat_ngram_size = 3;
  params.dry_multiplier = 0.5;
  params.top_n_sigma = 3;
  params.typical_p = 0.9;
  params.xtc_probability = 0.5;
  params.dynatemp_range = 0.3;
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
