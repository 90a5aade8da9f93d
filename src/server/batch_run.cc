#include "server/batch_run.h"

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "server/api_answer.h"
#include "server/batch_line.h"
#include "server/engine_run.h"
#include "server/request_record.h"

namespace adit::server {
namespace {

using Clock = std::chrono::steady_clock;

// How long the job may have to wait to be asked.
constexpr std::chrono::milliseconds kRunPatience{100};

// Requests that have something to read. The engine's thread adds, one other takes.
class ReadyQueue {
 public:
  void Add(int64_t key) {
    {
      const std::lock_guard lock(mutex_);
      keys_.push_back(key);
    }
    added_.notify_one();
  }

  // What there is, as soon as there is something; nothing after kRunPatience.
  std::vector<int64_t> Take() {
    std::unique_lock lock(mutex_);
    added_.wait_for(lock, kRunPatience, [this] { return !keys_.empty(); });
    return std::exchange(keys_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<int64_t> keys_;  // guarded by mutex_
};

class BatchRun {
 public:
  BatchRun(engine::Engine& engine, const ApiModel& model, BatchJob& job, const BatchRunOptions& options)
      : engine_(engine), model_(model), job_(job), options_(options) {}

  Result<BatchSummary> Run() {
    const Clock::time_point start = Clock::now();
    for (BatchPace pace; (pace = job_.Pace()) != BatchPace::kStop;) {
      if (pace == BatchPace::kPause) {
        std::this_thread::sleep_for(kRunPatience);
      } else {
        ADIT_RETURN_IF_ERROR(SubmitSome());
        if (live_.empty() && at_end_) break;
        for (const int64_t key : ready_->Take()) ADIT_RETURN_IF_ERROR(Read(key));
      }
      summary_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      job_.Progress(summary_, num_tokens_);
    }
    summary_.interrupted = !live_.empty() || !at_end_;
    summary_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return summary_;
  }

 private:
  // A request in the engine.
  struct Live {
    Live(std::string id, ApiRequest wanted, const tokenizer::Tokenizer& tokenizer)
        : custom_id(std::move(id)), request(std::move(wanted)), answer(request, tokenizer) {}

    const std::string custom_id;
    ApiRequest request;
    ApiAnswer answer;  // of request
    std::optional<EngineRun> run;
  };

  bool HasRoom() const {
    return live_.size() < options_.max_live && (options_.max_prefill == 0 || num_prefill_ < options_.max_prefill);
  }

  Status SubmitSome() {
    BatchInputLine line;
    while (!at_end_ && HasRoom() && job_.Pace() == BatchPace::kGo) {
      ADIT_ASSIGN_OR_RETURN(const bool more, job_.Next(line));
      at_end_ = !more;
      if (more) ADIT_RETURN_IF_ERROR(Submit(line));
    }
    return Status();
  }

  Status Submit(const BatchInputLine& line) {
    auto parsed = line.longer_than > 0 ? std::variant<BatchRequestLine, BatchLineError>(TooLong(line.longer_than))
                                       : ParseBatchLine(line.text);
    if (const auto* error = std::get_if<BatchLineError>(&parsed)) {
      if (job_.IsAnswered(line.number, error->custom_id)) return Status();
      return WriteFailure(BatchErrorLine(NewRequestId(), *error, line.number));
    }
    const BatchRequestLine& wanted = std::get<BatchRequestLine>(parsed);
    if (job_.IsAnswered(line.number, wanted.custom_id)) return Status();
    auto read = ReadRequest(*wanted.body, wanted.kind, model_, wanted.body_text);
    if (const auto* error = std::get_if<ApiError>(&read)) return WriteError(wanted.custom_id, *error);
    ApiRequest& request = std::get<ApiRequest>(read);
    std::optional<ApiError> refused = job_.Prepare(request);
    if (!refused) refused = CompileConstraint(engine_, request);
    if (refused) return WriteError(wanted.custom_id, *refused);
    const int64_t key = next_key_++;
    auto live = std::make_unique<Live>(wanted.custom_id, std::move(request), model_.tokenizer);
    // The engine may tell of something after this object has gone.
    Result<EngineRun> run = EngineRun::Submit(engine_, live->request, [ready = ready_, key] { ready->Add(key); });
    if (!run.ok()) return WriteError(wanted.custom_id, ErrorOfEngine(run.status()));
    live->run = std::move(run).value();
    live_.emplace(key, std::move(live));
    ++num_prefill_;
    return Status();
  }

  static BatchLineError TooLong(size_t bytes) {
    return {.error = {.code = "request_too_large", .message = fmt::format("the line has more than {} bytes", bytes)}};
  }

  // All that there is to read of one request.
  Status Read(int64_t key) {
    const auto found = live_.find(key);
    if (found == live_.end()) return Status();
    Live& live = *found->second;
    const int64_t num_before = live.run->num_events();
    const bool ended = live.run->Read(live.answer);
    const int64_t num_now = live.run->num_events();
    num_tokens_ += num_now - num_before;
    if (num_before == 0 && (num_now > 0 || ended)) --num_prefill_;
    if (!ended) return Status();
    const std::unique_ptr<Live> done = std::move(found->second);
    live_.erase(found);
    return Write(*done);
  }

  Status Write(Live& live) {
    const ApiUsage usage = live.answer.usage();
    summary_.prompt_tokens += usage.prompt_tokens;
    summary_.cached_tokens += usage.cached_tokens;
    summary_.output_tokens += usage.output_tokens;
    if (live.answer.error()) return WriteError(live.custom_id, *live.answer.error());
    const std::string id = NewRequestId();
    ++summary_.num_done;
    return job_.Write(
        BatchResultLine(id, live.custom_id, 200, live.answer.Body({.id = id, .created_s = WholeUnixSeconds()})),
        /*failed=*/false);
  }

  Status WriteError(const std::string& custom_id, const ApiError& error) {
    return WriteFailure(BatchResultLine(NewRequestId(), custom_id, error.status, ErrorBody(error)));
  }

  Status WriteFailure(const std::string& line) {
    ++summary_.num_done;
    ++summary_.num_failed;
    return job_.Write(line, /*failed=*/true);
  }

  engine::Engine& engine_;
  const ApiModel& model_;
  BatchJob& job_;
  const BatchRunOptions options_;
  const std::shared_ptr<ReadyQueue> ready_ = std::make_shared<ReadyQueue>();
  std::unordered_map<int64_t, std::unique_ptr<Live>> live_;
  size_t num_prefill_ = 0;  // of live_, without a token
  int64_t next_key_ = 0;
  int64_t num_tokens_ = 0;
  bool at_end_ = false;
  BatchSummary summary_;
};

}  // namespace

Result<BatchSummary> RunBatch(engine::Engine& engine, const ApiModel& model, BatchJob& job,
                              const BatchRunOptions& options) {
  return BatchRun(engine, model, job, options).Run();
}

}  // namespace adit::server
