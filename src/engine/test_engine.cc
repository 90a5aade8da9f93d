#include "engine/test_engine.h"

#include <gtest/gtest.h>

#include <utility>

namespace adit::engine {

std::unique_ptr<LoadedModel> LoadGolden(const std::string& family, const std::string& isa, int num_threads) {
  auto model = LoadedModel::Load({.path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/" + family + ".gguf",
                                  .isa = isa,
                                  .num_threads = num_threads});
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  return std::move(model).value();
}

void Told::Read(EventStream& stream) {
  while (std::optional<Event> event = stream.TryNext()) {
    switch (event->kind) {
      case Event::Kind::kToken: {
        Answer& answer = answers[event->answer];
        EXPECT_FALSE(answer.finished);
        answer.tokens.push_back(event->token);
        answer.logprobs.push_back(event->logprob);
        answer.tops.push_back(std::move(event->top));
        break;
      }
      case Event::Kind::kPromptToken:
        prompt.push_back(event->token);
        prompt_logprobs.push_back(event->logprob);
        break;
      case Event::Kind::kFinished:
        EXPECT_FALSE(answers[event->answer].finished);
        answers[event->answer].finished = true;
        answers[event->answer].stats = *event->stats;
        break;
      case Event::Kind::kDone:
        done = true;
        break;
      case Event::Kind::kError:
        error = event->status;
        done = true;
        break;
    }
  }
}

TestEngine::TestEngine(const LoadedModel& model, const EngineOptions& options) : model_(model), options_(options) {
  auto core = EngineCore::Create(model, options);
  EXPECT_TRUE(core.ok()) << core.status().ToString();
  core_ = std::move(core).value();
}

TestEngine::~TestEngine() {
  core_->EndAll(FinishReason::kCancelled, now_s_);
  core_->ClearPrefixCache();
  EXPECT_EQ(core_->runner().pool().num_free(), core_->runner().pool().num_blocks());
}

int64_t TestEngine::Add(GenerationRequest request) {
  auto stream = std::make_shared<EventStream>(options_.event_capacity, [] {});
  auto active = ActiveRequest::Create(std::move(request), model_, core_->max_context(), stream);
  if (!active.ok()) {
    told_[0] = {.error = active.status()};
    return 0;
  }
  const int64_t id = next_id_++;
  (*active)->id = id;
  streams_[id] = std::move(stream);
  core_->Add(std::move(active).value(), now_s_);
  ReadAll();
  return id;
}

void TestEngine::ReadAll() {
  for (auto& [id, stream] : streams_) {
    if (!slow[id]) told_[id].Read(*stream);
  }
}

bool TestEngine::Step() {
  now_s_ += 1e-3;
  const bool ran = core_->Step(now_s_);
  ReadAll();
  return ran;
}

void TestEngine::RunAll() {
  for (int i = 0; i < 100000 && !core_->idle(); ++i) Step();
  EXPECT_TRUE(core_->idle());
}

void TestEngine::End(int64_t id, FinishReason reason) {
  core_->End(id, reason, now_s_);
  ReadAll();
}

}  // namespace adit::engine
