#include "server/batch_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "server/batch_line.h"

namespace adit::server {
namespace {

using ::testing::HasSubstr;

std::string InputLine(const std::string& id, const std::string& fields) {
  return R"({"custom_id": ")" + id + R"(", "method": "POST", "url": "/v1/completions", "body": {"prompt": "abc", )" +
         R"("ignore_eos": true, )" + fields + "}}\n";
}

class BatchQueueTest : public testing::Test {
 protected:
  // What others do on the server, as the test wants it.
  class Host : public BatchHost {
   public:
    explicit Host(BatchQueueTest& test) : test_(test) {}
    Result<std::shared_ptr<const ServedModel>> Model(const std::string&, const std::function<bool()>&) override {
      return test_.served_;
    }
    int64_t TenantTokens(const std::string&, const ServedModel&) override { return 0; }
    bool HasSeveralModels() override { return test_.several_; }
    bool IsBusy() override { return test_.busy_; }
    std::optional<ApiError> Check(const ServedModel&, const ApiRequest& request) override {
      if (request.model == "tiny") return std::nullopt;
      return ApiError{.status = 404, .code = "model_not_found", .message = "m", .param = "model"};
    }

   private:
    BatchQueueTest& test_;
  };

  void SetUp() override {
    char name[] = "/tmp/adit_batches_XXXXXX";
    folder_ = ::mkdtemp(name);
    auto model = engine::LoadedModel::Load(
        {.path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/llama.gguf", .isa = "ref", .num_threads = 1});
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    engine::EngineOptions options{.kv_tokens = 1024};
    options.scheduler.max_context = 200;
    options.scheduler.max_num_seqs = 4;
    auto engine = engine::Engine::Create(**model, options);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    served_ = ServedModel::Create(std::move(model).value(), std::move(engine).value(),
                                  {.name = "tiny", .tenants = {"default"}});
    Open();
  }
  void TearDown() override {
    queue_.reset();
    files_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Open(size_t max_bytes = 1 << 20) {
    queue_.reset();
    files_.reset();
    auto files = FileStore::Open({.folder = folder_, .max_bytes = max_bytes});
    ASSERT_TRUE(files.ok()) << files.status().ToString();
    files_ = std::move(files).value();
    auto queue = BatchQueue::Open(*files_, std::make_unique<Host>(*this));
    ASSERT_TRUE(queue.ok()) << queue.status().ToString();
    queue_ = std::move(queue).value();
  }

  std::string Submit(const std::string& input) {
    const auto file = files_->Add({.tenant = "t", .filename = "in", .purpose = "batch"}, input);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    auto record = queue_->Add({.tenant = "t", .kind = ApiKind::kCompletion, .input_file_id = file->id});
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    return record->id;
  }
  // Waits, but not for ever.
  template <typename Condition>
  static void WaitUntil(Condition condition) {
    for (int i = 0; i < 60'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(condition());
  }
  BatchRecord Wait(const std::string& id) const {
    WaitUntil([&] { return queue_->Find("t", id)->ended(); });
    return *queue_->Find("t", id);
  }
  void WaitForResults(const std::string& id, int64_t count) const {
    WaitUntil([&] { return queue_->Find("t", id)->completed >= count; });
  }
  // The ids that a file answers, each once.
  std::set<std::string> IdsOf(const std::string& file_id) const {
    const std::string text = files_->Read(file_id).value();
    std::set<std::string> ids;
    TextLines lines(text);
    for (std::string_view line; lines.Next(line);) {
      EXPECT_TRUE(ids.insert(CustomIdOf(line).value()).second) << line << " is answered twice";
    }
    return ids;
  }

  std::string folder_;
  std::atomic<bool> busy_ = false;
  std::atomic<bool> several_ = false;
  std::shared_ptr<const ServedModel> served_;
  std::unique_ptr<FileStore> files_;
  std::unique_ptr<BatchQueue> queue_;
};

TEST_F(BatchQueueTest, AnswersEachLineAndTellsErrorsApart) {
  const std::string id =
      Submit(InputLine("a", R"("max_tokens": 3)") + InputLine("b", R"("max_tokens": -7)") +
             InputLine("c", R"("max_tokens": 2, "model": "another")") +
             InputLine("d", R"("max_tokens": 2, "stream": true)") + InputLine("e", R"("max_tokens": 1)"));
  const BatchRecord record = Wait(id);
  EXPECT_EQ(record.status, BatchStatus::kCompleted);
  EXPECT_EQ(record.total, 5);
  EXPECT_EQ(record.completed, 2);
  EXPECT_EQ(record.failed, 3);
  EXPECT_EQ(IdsOf(record.output_file_id), (std::set<std::string>{"a", "e"}));
  EXPECT_EQ(IdsOf(record.error_file_id), (std::set<std::string>{"b", "c", "d"}));
  EXPECT_THAT(*files_->Read(record.error_file_id), HasSubstr("model_not_found"));
  EXPECT_THAT(*files_->Read(record.output_file_id), HasSubstr(R"("completion_tokens":3)"));
  EXPECT_FALSE(queue_->Find("other", id));
  EXPECT_TRUE(queue_->List("other").empty());
}

TEST_F(BatchQueueTest, FilesWithoutResultsAreNotThere) {
  const BatchRecord good = Wait(Submit(InputLine("a", R"("max_tokens": 1)")));
  EXPECT_EQ(good.error_file_id, "");
  const BatchRecord bad = Wait(Submit("nonsense\n"));
  EXPECT_EQ(bad.status, BatchStatus::kFailed);
  ASSERT_EQ(bad.faults.size(), 1u);
  EXPECT_EQ(bad.faults[0].line, 1);
  EXPECT_EQ(files_->List("t").size(), 3u) << "two inputs and an output";
}

TEST_F(BatchQueueTest, WaitsWhileOthersAreServed) {
  busy_ = true;
  const std::string id = Submit(InputLine("a", R"("max_tokens": 2)"));
  WaitUntil([&] { return queue_->Find("t", id)->status == BatchStatus::kInProgress; });
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(served_->engine().stats().scheduler.steps, 0);
  busy_ = false;
  EXPECT_EQ(Wait(id).status, BatchStatus::kCompleted);
}

TEST_F(BatchQueueTest, WhatIsUnderWayComesToRestWhenOthersCome) {
  const std::string id = Submit(InputLine("a", R"("max_tokens": 110)"));
  WaitUntil([&] { return served_->engine().stats().scheduler.steps >= 2; });
  busy_ = true;
  int64_t steps = -1;
  for (int i = 0; i < 100; ++i) {
    const int64_t now = served_->engine().stats().scheduler.steps;
    if (now == steps) break;
    steps = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  EXPECT_LT(steps, 110) << "it has not rested";
  EXPECT_EQ(served_->engine().stats().scheduler.steps, steps);
  busy_ = false;
  EXPECT_EQ(Wait(id).completed, 1);
}

TEST_F(BatchQueueTest, GoesOnAfterTheProcessWithoutLosingOrDoublingALine) {
  std::string input;
  for (int i = 0; i < 60; ++i) input += InputLine(std::to_string(i), R"("max_tokens": 5)");
  const std::string id = Submit(input);
  for (int64_t count = 5; count <= 35; count += 10) {
    WaitForResults(id, count);
    Open();
  }
  // A result that was being written when the machine went.
  const std::string output = queue_->Find("t", id)->output_file_id;
  queue_.reset();
  ASSERT_TRUE(files_->Append(output, R"({"id":"batch_req_0","custom_id":"59","resp)").ok());
  Open();
  const BatchRecord record = Wait(id);
  EXPECT_EQ(record.status, BatchStatus::kCompleted);
  EXPECT_EQ(record.completed, 60);
  EXPECT_EQ(IdsOf(record.output_file_id).size(), 60u);
  Open();
  EXPECT_EQ(Wait(id).completed, 60) << "what has ended stays so";
}

TEST_F(BatchQueueTest, ACancelledBatchKeepsItsResults) {
  std::string input;
  for (int i = 0; i < 40; ++i) input += InputLine(std::to_string(i), R"("max_tokens": 60)");
  const std::string id = Submit(input);
  WaitForResults(id, 2);
  EXPECT_EQ(queue_->Cancel("t", id)->status, BatchStatus::kCancelling);
  EXPECT_FALSE(queue_->Cancel("other", id));
  const BatchRecord record = Wait(id);
  EXPECT_EQ(record.status, BatchStatus::kCancelled);
  EXPECT_GE(record.completed, 2);
  EXPECT_LT(record.completed, 40);
  EXPECT_EQ(static_cast<int64_t>(IdsOf(record.output_file_id).size()), record.completed);
  EXPECT_EQ(queue_->Cancel("t", id)->status, BatchStatus::kCancelled);
}

TEST_F(BatchQueueTest, GivesItsModelBackWhileOthersAreServed) {
  several_ = true;
  std::string input;
  for (int i = 0; i < 40; ++i) input += InputLine(std::to_string(i), R"("max_tokens": 60)");
  const std::string id = Submit(input);
  WaitForResults(id, 1);
  busy_ = true;
  WaitUntil([&] { return served_.use_count() == 1; });
  EXPECT_FALSE(queue_->Find("t", id)->ended());
  busy_ = false;
  const BatchRecord record = Wait(id);
  EXPECT_EQ(record.status, BatchStatus::kCompleted);
  EXPECT_EQ(IdsOf(record.output_file_id).size(), 40u);
}

TEST_F(BatchQueueTest, FailsWhenThereIsNoRoomForResults) {
  Open(/*max_bytes=*/700);
  const std::string id = Submit(InputLine("a", R"("max_tokens": 1)") + InputLine("b", R"("max_tokens": 1)"));
  const BatchRecord record = Wait(id);
  EXPECT_EQ(record.status, BatchStatus::kFailed);
  ASSERT_EQ(record.faults.size(), 1u);
  EXPECT_EQ(record.faults[0].code, "insufficient_storage");
}

}  // namespace
}  // namespace adit::server
