#include "engine/embedding_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

#include "engine/test_engine.h"

namespace adit::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Counts what the engine's thread tells of.
class Bell {
 public:
  std::function<void()> Ringer() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++rung_;
      heard_.notify_all();
    };
  }
  void WaitFor(int times) {
    std::unique_lock lock(mutex_);
    heard_.wait(lock, [&] { return rung_ >= times; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  int rung_ = 0;
};

std::unique_ptr<EmbeddingEngine> Start(const LoadedModel& model, int64_t max_queued_requests = 1024) {
  EmbeddingEngineOptions options{.max_queued_requests = max_queued_requests};
  options.embedder.max_batch_tokens = 16;
  auto engine = EmbeddingEngine::Create(model, options);
  EXPECT_TRUE(engine.ok()) << engine.status().ToString();
  return std::move(engine).value();
}

Embeddings Alone(const LoadedModel& model, const std::vector<std::vector<int32_t>>& texts, EmbeddingForm form) {
  auto embedder = Embedder::Create(model.spec(), model.weights(), model.exec_context(), {});
  EXPECT_TRUE(embedder.ok());
  const std::vector<EmbeddingForm> forms(texts.size(), form);
  return (*embedder)->Embed(texts, forms).value();
}

TEST(EmbeddingEngine, GivesEachRequestWhatItGetsAlone) {
  const auto model = LoadGolden("llama");
  const std::vector<std::vector<int32_t>> many(20, {1, 2, 3, 4, 5});
  const std::vector<std::vector<int32_t>> few = {{7, 8}, {9}};
  const Embeddings want_many = Alone(*model, many, {.pooling = Pooling::kLast});
  const Embeddings want_few = Alone(*model, few, {.pooling = Pooling::kMean, .normalize = true});
  const auto engine = Start(*model);
  Bell bell;
  auto first = engine->Submit({.texts = many, .form = {.pooling = Pooling::kLast}}, bell.Ringer());
  auto second = engine->Submit({.texts = few, .form = {.pooling = Pooling::kMean, .normalize = true}}, bell.Ringer());
  ASSERT_TRUE(first.ok() && second.ok());
  bell.WaitFor(2);
  EXPECT_EQ(first->TryTake()->value(), want_many);
  EXPECT_EQ(second->TryTake()->value(), want_few);
  const EmbeddingStats stats = engine->stats();
  EXPECT_EQ(stats.num_requests, 0);
  EXPECT_EQ(stats.tokens, 103);
  // Seven full passes of three texts; the small request shares one of them at most.
  EXPECT_GE(stats.passes, 7);
}

TEST(EmbeddingEngine, RequestsOfOnePriorityTakeTurns) {
  const auto model = LoadGolden("llama");
  const auto engine = Start(*model);
  const std::vector<std::vector<int32_t>> many(400, std::vector<int32_t>(16, 3));
  Bell slow;
  Bell quick;
  auto first = engine->Submit({.texts = many}, slow.Ringer());
  auto second = engine->Submit({.texts = {{1, 2}}}, quick.Ringer());
  ASSERT_TRUE(first.ok() && second.ok());
  quick.WaitFor(1);
  EXPECT_FALSE(first->TryTake().has_value()) << "the other's texts are not waited for";
  EXPECT_TRUE(second->TryTake().has_value());
}

TEST(EmbeddingEngine, ADroppedRequestIsNotComputed) {
  const auto model = LoadGolden("llama");
  const auto engine = Start(*model);
  {
    auto dropped =
        engine->Submit({.texts = std::vector<std::vector<int32_t>>(1000, std::vector<int32_t>(16, 3))}, [] {});
    ASSERT_TRUE(dropped.ok());
  }
  EXPECT_EQ(engine->stats().num_requests, 0);
  Bell bell;
  auto next = engine->Submit({.texts = {{1}}}, bell.Ringer());
  bell.WaitFor(1);
  EXPECT_LT(engine->stats().tokens, 1000);
}

TEST(EmbeddingEngine, RefusesWhatItCannotTake) {
  const auto model = LoadGolden("llama");
  const auto engine = Start(*model, /*max_queued_requests=*/1);
  EXPECT_THAT(engine->Submit({.texts = {{}}}, [] {}).status().message(), HasSubstr("text 0 has no tokens"));
  EXPECT_THAT(engine->Submit({}, [] {}).status().message(), HasSubstr("no text"));
  EXPECT_EQ(engine->Submit({.texts = {{std::numeric_limits<int32_t>::max()}}}, [] {}).status().code(),
            StatusCode::kInvalidArgument);
  auto first = engine->Submit({.texts = std::vector<std::vector<int32_t>>(1000, std::vector<int32_t>(16, 3))}, [] {});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(engine->Submit({.texts = {{1}}}, [] {}).status().code(), StatusCode::kResourceExhausted);
}

TEST(EmbeddingEngine, WhatRunsAtTheEndIsCancelled) {
  const auto model = LoadGolden("llama");
  auto engine = Start(*model);
  Bell bell;
  auto handle =
      engine->Submit({.texts = std::vector<std::vector<int32_t>>(1000, std::vector<int32_t>(16, 3))}, bell.Ringer());
  engine.reset();
  bell.WaitFor(1);
  EXPECT_EQ(handle->TryTake()->status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace adit::engine
