#include "cli/batch_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "cli/batch_line.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/signals.h"
#include "server/api_answer.h"
#include "server/engine_run.h"

namespace adit::cli {
namespace {

using Clock = std::chrono::steady_clock;
using server::ApiAnswer;
using server::ApiError;
using server::ApiRequest;
using server::ApiUsage;
using server::CompileConstraint;
using server::EngineRun;
using server::ErrorBody;
using server::ErrorOfEngine;
using server::ReadRequest;

// How long a signal or the progress bar may have to wait.
constexpr std::chrono::milliseconds kPatience{100};

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

  // What there is, as soon as there is something; nothing after kPatience.
  std::vector<int64_t> Take() {
    std::unique_lock lock(mutex_);
    added_.wait_for(lock, kPatience, [this] { return !keys_.empty(); });
    return std::exchange(keys_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<int64_t> keys_;  // guarded by mutex_
};

// Ids that differ between runs.
class IdSource {
 public:
  std::string Next() {
    const uint64_t position = next_++;
    return fmt::format("{:016x}{:08x}", RandomBits(seed_, position),
                       static_cast<uint32_t>(RandomBits(seed_, position, /*stream=*/1)));
  }

 private:
  static uint64_t DrawSeed() {
    std::random_device device;
    return (static_cast<uint64_t>(device()) << 32) | device();
  }
  const uint64_t seed_ = DrawSeed();
  uint64_t next_ = 0;
};

int64_t SecondsSinceEpoch() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class BatchRun {
 public:
  BatchRun(engine::Engine& engine, const server::ApiModel& model, BatchInput& input, BatchOutput& output,
           const BatchRunOptions& options)
      : engine_(engine),
        model_(model),
        input_(input),
        output_(output),
        options_(options),
        bar_(Stderr(), "Answering") {}

  Result<BatchSummary> Run() {
    const Clock::time_point start = Clock::now();
    while (PendingInterrupt() == 0) {
      ADIT_RETURN_IF_ERROR(SubmitSome());
      if (live_.empty() && at_end_) break;
      for (const int64_t key : ready_->Take()) ADIT_RETURN_IF_ERROR(Read(key));
      ShowProgress(std::chrono::duration<double>(Clock::now() - start).count());
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

  Status SubmitSome() {
    BatchInput::Line line;
    while (!at_end_ && live_.size() < options_.max_live && PendingInterrupt() == 0) {
      ADIT_ASSIGN_OR_RETURN(const bool more, input_.Next(line));
      at_end_ = !more;
      if (more) ADIT_RETURN_IF_ERROR(Submit(line));
    }
    return Status();
  }

  Status Submit(const BatchInput::Line& line) {
    auto parsed = line.too_long ? std::variant<BatchRequestLine, BatchLineError>(TooLong()) : ParseBatchLine(line.text);
    if (const auto* error = std::get_if<BatchLineError>(&parsed)) {
      if (output_.answered().Has(line.number, error->custom_id)) return Status();
      return WriteFailure(BatchErrorLine(ids_.Next(), *error, line.number));
    }
    const BatchRequestLine& wanted = std::get<BatchRequestLine>(parsed);
    if (output_.answered().Has(line.number, wanted.custom_id)) return Status();
    auto read = ReadRequest(*wanted.body, wanted.kind, model_, wanted.body_text);
    if (const auto* error = std::get_if<ApiError>(&read)) return WriteError(wanted.custom_id, *error);
    if (const auto error = CompileConstraint(engine_, std::get<ApiRequest>(read)); error) {
      return WriteError(wanted.custom_id, *error);
    }
    const int64_t key = next_key_++;
    auto live = std::make_unique<Live>(wanted.custom_id, std::get<ApiRequest>(std::move(read)), model_.tokenizer);
    // The engine may tell of something after this object has gone.
    Result<EngineRun> run = EngineRun::Submit(engine_, live->request, [ready = ready_, key] { ready->Add(key); });
    if (!run.ok()) return WriteError(wanted.custom_id, ErrorOfEngine(run.status()));
    live->run = std::move(run).value();
    live_.emplace(key, std::move(live));
    return Status();
  }

  static BatchLineError TooLong() {
    return {.error = {.code = "request_too_large",
                      .message = fmt::format("the line has more than {} bytes", BatchInput::kMaxLineBytes)}};
  }

  // All that there is to read of one request.
  Status Read(int64_t key) {
    const auto found = live_.find(key);
    if (found == live_.end()) return Status();
    Live& live = *found->second;
    const int64_t num_before = live.run->num_events();
    const bool ended = live.run->Read(live.answer);
    num_tokens_ += live.run->num_events() - num_before;
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
    const std::string id = ids_.Next();
    ++summary_.num_done;
    return output_.Write(
        BatchResultLine(id, live.custom_id, 200, live.answer.Body({.id = id, .created_s = SecondsSinceEpoch()})));
  }

  Status WriteError(const std::string& custom_id, const ApiError& error) {
    return WriteFailure(BatchResultLine(ids_.Next(), custom_id, error.status, ErrorBody(error)));
  }

  Status WriteFailure(const std::string& line) {
    ++summary_.num_done;
    ++summary_.num_failed;
    return output_.Write(line);
  }

  void ShowProgress(double seconds) {
    const double total = static_cast<double>(std::max<int64_t>(options_.num_new, 1));
    bar_.Update(static_cast<double>(summary_.num_done) / total,
                fmt::format("{} of {}, {:.1f} tok/s", summary_.num_done, options_.num_new,
                            static_cast<double>(num_tokens_) / std::max(seconds, 1e-9)));
  }

  engine::Engine& engine_;
  const server::ApiModel& model_;
  BatchInput& input_;
  BatchOutput& output_;
  const BatchRunOptions options_;
  const std::shared_ptr<ReadyQueue> ready_ = std::make_shared<ReadyQueue>();
  IdSource ids_;
  ProgressBar bar_;
  std::unordered_map<int64_t, std::unique_ptr<Live>> live_;
  int64_t next_key_ = 0;
  int64_t num_tokens_ = 0;
  bool at_end_ = false;
  BatchSummary summary_;
};

}  // namespace

Result<BatchSummary> RunBatch(engine::Engine& engine, const server::ApiModel& model, BatchInput& input,
                              BatchOutput& output, const BatchRunOptions& options) {
  return BatchRun(engine, model, input, output, options).Run();
}

}  // namespace adit::cli
