// A steady decode step allocates nothing.
#include <gtest/gtest.h>

#include <vector>

#include "engine/engine_core.h"
#include "sample/test_allocations.h"

namespace adit::engine {
namespace {

TEST(EngineMemory, ASteadyDecodeStepAllocatesNothing) {
  auto model = LoadedModel::Load(
      {.path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/gemma3.gguf", .isa = "ref", .num_threads = 2});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EngineOptions options{.kv_tokens = 2048};
  options.scheduler.max_num_seqs = 8;
  auto core = EngineCore::Create(**model, options);
  ASSERT_TRUE(core.ok()) << core.status().ToString();
  std::vector<std::shared_ptr<EventStream>> streams;
  for (int64_t i = 0; i < 8; ++i) {
    streams.push_back(std::make_shared<EventStream>(64, [] {}));
    GenerationRequest request{.max_tokens = 100, .ignore_eos = true};
    request.prompt = {1, 2, static_cast<int32_t>(3 + i)};
    // Greedy, drawn, and with every step of the chain.
    if (i % 2 == 0) request.sampling = {.repetition_penalty = 1.1, .top_k = 20, .top_p = 0.9, .min_p = 0.01};
    if (i % 4 == 1) request.sampling.temperature = 0.0;
    request.sampling.top_logprobs = i % 3 == 0 ? -1 : 0;
    auto active = ActiveRequest::Create(std::move(request), **model, (*core)->max_context(), streams.back());
    ASSERT_TRUE(active.ok()) << active.status().ToString();
    (*active)->id = i + 1;
    (*core)->Add(std::move(active).value(), 0.0);
  }
  double now = 0.0;
  const auto step = [&] {
    ASSERT_TRUE((*core)->Step(now += 1e-3));
    for (const auto& stream : streams) {
      while (stream->TryNext()) {
      }
    }
  };
  for (int i = 0; i < 20; ++i) step();
  const int64_t before = sample::NumAllocations();
  for (int i = 0; i < 60; ++i) step();
  EXPECT_EQ(sample::NumAllocations() - before, 0);
}

}  // namespace
}  // namespace adit::engine
