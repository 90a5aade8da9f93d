#include "engine/embedding_engine.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace adit::engine {

struct EmbeddingHandle::Job {
  EmbeddingForm form;
  int32_t priority = 0;
  std::function<void()> on_ready;
  // Guarded by Shared::mutex. A text's tokens are gone once a pass has taken them.
  std::vector<std::vector<int32_t>> texts;
  std::vector<int64_t> second_texts;  // constant
  size_t num_taken = 0;
  size_t num_done = 0;
  Embeddings embeddings;
  Status status;
  bool ended = false;
};

// What clients and the engine's thread share; outlives both.
struct EmbeddingHandle::Shared {
  const int64_t max_queued_requests;

  mutable std::mutex mutex;
  std::condition_variable wake;
  // Guarded by mutex. Those that have not ended; whoever has had a turn stands behind the others.
  std::vector<std::shared_ptr<Job>> jobs;
  int64_t passes = 0;
  int64_t tokens = 0;
  bool stopping = false;

  explicit Shared(int64_t max_queued) : max_queued_requests(max_queued) {}
};

EmbeddingHandle::EmbeddingHandle(std::shared_ptr<Job> job, std::shared_ptr<Shared> shared)
    : job_(std::move(job)), shared_(std::move(shared)) {}

EmbeddingHandle::~EmbeddingHandle() {
  if (job_ == nullptr) return;
  const std::lock_guard lock(shared_->mutex);
  std::erase(shared_->jobs, job_);
  job_->ended = true;
}

std::optional<Result<Embeddings>> EmbeddingHandle::TryTake() {
  const std::lock_guard lock(shared_->mutex);
  if (!job_->ended) return std::nullopt;
  if (!job_->status.ok()) return Result<Embeddings>(job_->status);
  return Result<Embeddings>(std::move(job_->embeddings));
}

EmbeddingEngine::EmbeddingEngine(const EmbeddingEngineOptions& options, std::unique_ptr<Embedder> embedder)
    : options_(options.embedder),
      shared_(std::make_shared<Shared>(options.max_queued_requests)),
      embedder_(std::move(embedder)) {}

Result<std::unique_ptr<EmbeddingEngine>> EmbeddingEngine::Create(const LoadedModel& model,
                                                                 const EmbeddingEngineOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<Embedder> embedder,
                        Embedder::Create(model.spec(), model.weights(), model.exec_context(), options.embedder));
  std::unique_ptr<EmbeddingEngine> engine(new EmbeddingEngine(options, std::move(embedder)));
  try {
    engine->thread_ = std::thread([raw = engine.get()] { raw->ThreadMain(); });
  } catch (const std::system_error& error) {
    return ResourceExhausted("engine: no thread to be had: {}", error.what());
  }
  return engine;
}

EmbeddingEngine::~EmbeddingEngine() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->wake.notify_one();
  if (thread_.joinable()) thread_.join();
}

Result<EmbeddingHandle> EmbeddingEngine::Submit(EmbeddingRequest request, std::function<void()> on_ready) {
  ADIT_RETURN_IF_ERROR(embedder_->Check(request.texts));
  if (request.texts.empty()) return InvalidArgument("there is no text");
  auto job = std::make_shared<Job>();
  if (!request.second_texts.empty() && request.second_texts.size() != request.texts.size()) {
    return InvalidArgument("{} texts have {} second texts", request.texts.size(), request.second_texts.size());
  }
  job->form = request.form;
  job->second_texts = std::move(request.second_texts);
  job->priority = request.priority;
  job->on_ready = std::move(on_ready);
  job->embeddings.resize(request.texts.size());
  job->texts = std::move(request.texts);
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->stopping) return FailedPrecondition("the engine takes no more requests");
    const auto num_jobs = static_cast<int64_t>(shared_->jobs.size());
    if (shared_->max_queued_requests > 0 && num_jobs >= shared_->max_queued_requests) {
      return ResourceExhausted("{} requests wait; no more fit", num_jobs);
    }
    shared_->jobs.push_back(job);
  }
  shared_->wake.notify_one();
  return EmbeddingHandle(std::move(job), shared_);
}

EmbeddingStats EmbeddingEngine::stats() const {
  const std::lock_guard lock(shared_->mutex);
  EmbeddingStats stats{
      .num_requests = static_cast<int64_t>(shared_->jobs.size()), .passes = shared_->passes, .tokens = shared_->tokens};
  for (const auto& job : shared_->jobs) stats.num_waiting += static_cast<int64_t>(job->texts.size() - job->num_taken);
  return stats;
}

void EmbeddingEngine::ThreadMain() {
  std::vector<std::shared_ptr<Job>> left;
  while (true) {
    {
      std::unique_lock lock(shared_->mutex);
      shared_->wake.wait(lock, [this] { return shared_->stopping || !shared_->jobs.empty(); });
      if (shared_->stopping) {
        left.swap(shared_->jobs);
        break;
      }
    }
    RunPass();
  }
  for (const auto& job : left) {
    {
      const std::lock_guard lock(shared_->mutex);
      job->status = Status(StatusCode::kCancelled, "the engine stops");
      job->ended = true;
    }
    job->on_ready();
  }
}

// Texts of the most urgent requests in turn, as many as a pass has room for.
EmbeddingEngine::Pass EmbeddingEngine::TakeTexts() {
  Pass pass;
  const std::lock_guard lock(shared_->mutex);
  std::vector<std::shared_ptr<Job>>& jobs = shared_->jobs;
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a->priority < b->priority; });
  const auto end =
      std::find_if(jobs.begin(), jobs.end(), [&](const auto& job) { return job->priority > jobs.front()->priority; });
  bool full = false;
  for (bool found = true; found && !full;) {
    found = false;
    for (auto at = jobs.begin(); at != end && !full; ++at) {
      Job& job = **at;
      if (job.num_taken == job.texts.size()) continue;
      const auto size = static_cast<int64_t>(job.texts[job.num_taken].size());
      full = !pass.from.empty() && pass.num_tokens + size > embedder_->max_batch_tokens();
      if (full) break;
      found = true;
      pass.num_tokens += size;
      pass.from.push_back({.job = *at, .text = job.num_taken});
      pass.forms.push_back(job.form);
      if (!job.second_texts.empty()) pass.forms.back().second_text = job.second_texts[job.num_taken];
      pass.texts.push_back(std::move(job.texts[job.num_taken++]));
    }
  }
  // Who has had a turn stands behind the others.
  std::stable_partition(jobs.begin(), end, [&](const auto& job) {
    return std::none_of(pass.from.begin(), pass.from.end(), [&](const Place& place) { return place.job == job; });
  });
  return pass;
}

void EmbeddingEngine::RunPass() {
  const Pass pass = TakeTexts();
  if (pass.from.empty()) return;
  Result<Embeddings> embeddings = embedder_->Embed(pass.texts, pass.forms);
  std::vector<std::shared_ptr<Job>> ended;
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->passes;
    shared_->tokens += pass.num_tokens;
    for (size_t i = 0; i < pass.from.size(); ++i) {
      Job& job = *pass.from[i].job;
      if (job.ended) continue;
      if (embeddings.ok()) {
        job.embeddings[pass.from[i].text] = std::move((*embeddings)[i]);
      } else {
        job.status = embeddings.status();
      }
      job.ended = !job.status.ok() || ++job.num_done == job.texts.size();
      if (!job.ended) continue;
      ended.push_back(pass.from[i].job);
      std::erase(shared_->jobs, pass.from[i].job);
    }
  }
  for (const auto& job : ended) job->on_ready();
}

}  // namespace adit::engine
