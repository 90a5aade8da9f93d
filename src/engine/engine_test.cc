#include "engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "engine/test_engine.h"

namespace adit::engine {
namespace {

GenerationRequest Request(int32_t length, int32_t seed, int64_t max_tokens) {
  GenerationRequest request{.sampling = {.seed = seed}, .max_tokens = max_tokens, .ignore_eos = true};
  for (int32_t i = 0; i < length; ++i) request.prompt.push_back((i * 37 + seed * 101 + 11) % 256);
  return request;
}

struct Answer {
  std::vector<int32_t> tokens;
  FinishReason reason = FinishReason::kError;
  Status error;
};

Answer ReadAll(RequestHandle& handle) {
  Answer answer;
  while (const std::optional<Event> event = handle.Next()) {
    if (event->kind == Event::Kind::kToken) answer.tokens.push_back(event->token);
    if (event->kind == Event::Kind::kFinished) answer.reason = event->stats->reason;
    if (event->kind == Event::Kind::kError) answer.error = event->status;
  }
  return answer;
}

class EngineTest : public testing::Test {
 protected:
  void SetUp() override {
    model_ = LoadGolden("llama", "ref", 1);
    EngineOptions options{.kv_tokens = 512, .event_capacity = 16};
    options.scheduler.max_context = 120;
    options.scheduler.max_batch_tokens = 64;
    options.scheduler.max_num_seqs = 16;
    options.scheduler.max_queued_requests = 0;
    auto engine = Engine::Create(*model_, options);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    engine_ = std::move(engine).value();
  }

  void TearDown() override {
    // The figures are those of the end of a step, which may come after the last event.
    EXPECT_TRUE(engine_->Drain(60.0));
    const EngineStats stats = engine_->stats();
    EXPECT_EQ(stats.pages.num_free + stats.pages.num_cached, stats.pages.num_pages);
  }

  std::unique_ptr<LoadedModel> model_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, ManyThreadsGetTheAnswersThatOneGets) {
  std::vector<std::vector<int32_t>> serial;
  for (int32_t i = 0; i < 24; ++i) {
    auto handle = engine_->Submit(Request(10 + i, i, 12));
    ASSERT_TRUE(handle.ok());
    serial.push_back(ReadAll(*handle).tokens);
  }
  engine_->ClearPrefixCache();
  std::vector<std::vector<int32_t>> parallel(24);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < parallel.size(); i += 4) {
          auto handle = engine_->Submit(Request(10 + static_cast<int32_t>(i), static_cast<int32_t>(i), 12));
          ASSERT_TRUE(handle.ok());
          parallel[i] = ReadAll(*handle).tokens;
        }
      });
    }
  }
  EXPECT_EQ(parallel, serial);
  EXPECT_TRUE(engine_->Drain(10.0));
}

TEST_F(EngineTest, AStormOfCancellationsLeavesNothingBehind) {
  std::vector<int32_t> expected;
  {
    auto handle = engine_->Submit(Request(30, 1, 10));
    expected = ReadAll(*handle).tokens;
  }
  std::vector<std::jthread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 rng(t);
      for (int i = 0; i < 150; ++i) {
        GenerationRequest request = Request(1 + static_cast<int32_t>(rng() % 100), static_cast<int32_t>(rng() % 9), 50);
        if (rng() % 4 == 0) request.num_answers = 3;
        if (rng() % 8 == 0) request.beam.width = 2 + static_cast<int32_t>(rng() % 2);
        if (request.beam.width > 0) request.num_answers = 1;
        auto handle = engine_->Submit(std::move(request));
        ASSERT_TRUE(handle.ok()) << handle.status().ToString();
        const uint32_t events = rng() % 12;
        for (uint32_t e = 0; e < events && handle->Next(); ++e) {
        }
        if (rng() % 2 == 0) handle->Cancel();
        if (rng() % 4 == 0) (void)ReadAll(*handle);
      }
    });
  }
  threads.clear();
  auto handle = engine_->Submit(Request(30, 1, 10));
  EXPECT_EQ(ReadAll(*handle).tokens, expected);
  EXPECT_TRUE(engine_->Drain(60.0));
  EXPECT_EQ(engine_->stats().num_requests, 0);
  EXPECT_EQ(engine_->stats().num_running, 0);
}

TEST_F(EngineTest, OneAnswerIsCancelledAndTheOthersGoOn) {
  GenerationRequest alone = Request(20, 1, 60);
  alone.num_answers = 3;
  GenerationRequest request = alone;
  std::vector<int32_t> expected[3];
  auto whole = engine_->Submit(std::move(alone));
  while (std::optional<Event> event = whole->Next()) {
    if (event->kind == Event::Kind::kToken) expected[event->answer].push_back(event->token);
  }
  auto handle = engine_->Submit(std::move(request));
  std::vector<int32_t> tokens[3];
  std::optional<FinishReason> reasons[3];
  bool cancelled = false;
  while (std::optional<Event> event = handle->Next()) {
    if (event->kind == Event::Kind::kToken) tokens[event->answer].push_back(event->token);
    if (event->kind == Event::Kind::kFinished) reasons[event->answer] = event->stats->reason;
    if (!cancelled && tokens[1].size() == 3) {
      handle->CancelAnswer(1);
      handle->CancelAnswer(1);
      handle->CancelAnswer(7);
      cancelled = true;
    }
  }
  EXPECT_EQ(reasons[1], FinishReason::kCancelled);
  EXPECT_LT(tokens[1].size(), 60u);
  for (const int i : {0, 2}) {
    EXPECT_EQ(tokens[i], expected[i]);
    EXPECT_EQ(reasons[i], FinishReason::kLength);
  }
}

TEST_F(EngineTest, ARequestMayRestSoonerThanOthers) {
  GenerationRequest request = Request(20, 1, 90);
  request.max_unread = 4;
  auto handle = engine_->Submit(std::move(request));
  int64_t steps = -1;
  while (engine_->stats().scheduler.steps != steps || steps == 0) {
    steps = engine_->stats().scheduler.steps;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LE(steps, 6);
  EXPECT_EQ(ReadAll(*handle).tokens.size(), 90u);
}

TEST_F(EngineTest, AReaderThatSleepsGetsEverything) {
  auto slow = engine_->Submit(Request(20, 1, 90));
  auto quick = engine_->Submit(Request(20, 2, 90));
  EXPECT_EQ(ReadAll(*quick).tokens.size(), 90u);
  EXPECT_EQ(ReadAll(*slow).tokens.size(), 90u);
}

TEST_F(EngineTest, OnReadyTellsOfEvents) {
  std::atomic<int> ready = 0;
  auto handle = engine_->Submit(Request(20, 1, 10), [&] { ++ready; });
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(ReadAll(*handle).tokens.size(), 10u);
  EXPECT_GE(ready, 1);
}

TEST_F(EngineTest, AfterDrainingItTakesNoMore) {
  auto handle = engine_->Submit(Request(20, 1, 12));
  EXPECT_TRUE(engine_->Drain(20.0));
  EXPECT_EQ(ReadAll(*handle).tokens.size(), 12u);
  EXPECT_EQ(engine_->Submit(Request(20, 1, 12)).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(EngineTest, ShuttingDownEndsWhatRuns) {
  auto handle = engine_->Submit(Request(20, 1, 95));
  (void)handle->Next();
  engine_->Shutdown();
  EXPECT_EQ(ReadAll(*handle).reason, FinishReason::kCancelled);
  engine_->Shutdown();
}

}  // namespace
}  // namespace adit::engine
