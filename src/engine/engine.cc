#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/error.h"

namespace adit::engine {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point At(double seconds) {
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

constexpr int32_t kAllAnswers = -1;
// A day: waiting for longer is waiting for ever.
constexpr double kLongest = 86400.0;

}  // namespace

// What clients and the engine thread share; outlives both.
struct RequestHandle::Shared {
  struct Cancelled {
    int64_t id = 0;
    int32_t answer = kAllAnswers;
  };

  const size_t max_inbox;
  const size_t event_capacity;

  mutable std::mutex mutex;
  std::condition_variable wake;   // of the engine thread
  std::condition_variable empty;  // of whoever drains
  // Guarded by mutex.
  std::vector<std::unique_ptr<ActiveRequest>> submitted;
  std::vector<Cancelled> cancelled;
  int64_t next_id = 1;
  int64_t num_requests = 0;  // submitted and not ended
  bool draining = false;
  bool stopping = false;
  bool reader_waits = false;  // a stream that was full has room
  bool clear_cache = false;
  EngineStats stats;

  Shared(size_t inbox, size_t capacity) : max_inbox(inbox), event_capacity(capacity) {}

  void Wake(bool Shared::*flag) {
    {
      const std::lock_guard lock(mutex);
      this->*flag = true;
    }
    wake.notify_one();
  }
};

RequestHandle::RequestHandle(int64_t id, std::shared_ptr<EventStream> stream, std::shared_ptr<Shared> engine)
    : id_(id), stream_(std::move(stream)), engine_(std::move(engine)) {}

RequestHandle::~RequestHandle() {
  if (stream_ != nullptr) Cancel();
}

void RequestHandle::Cancel() { TellCancelled(kAllAnswers); }

void RequestHandle::CancelAnswer(int32_t answer) { TellCancelled(answer); }

void RequestHandle::TellCancelled(int32_t answer) {
  {
    const std::lock_guard lock(engine_->mutex);
    if (engine_->stopping) return;
    engine_->cancelled.push_back({.id = id_, .answer = answer});
  }
  engine_->wake.notify_one();
}

Engine::Engine(const LoadedModel& model, std::unique_ptr<EngineCore> core)
    : model_(model), runner_(&core->runner()), max_context_(core->max_context()), core_(std::move(core)) {}

Result<std::unique_ptr<Engine>> Engine::Create(const LoadedModel& model, const EngineOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<EngineCore> core, EngineCore::Create(model, options));
  std::unique_ptr<Engine> engine(new Engine(model, std::move(core)));
  engine->shared_ = std::make_shared<Shared>(options.max_inbox, options.event_capacity);
  engine->shared_->stats = engine->core_->stats();
  try {
    engine->thread_ = std::thread([raw = engine.get()] { raw->ThreadMain(); });
  } catch (const std::system_error& error) {
    return ResourceExhausted("engine: no thread to be had: {}", error.what());
  }
  return engine;
}

Engine::~Engine() { Shutdown(); }

Result<RequestHandle> Engine::Submit(GenerationRequest request, std::function<void()> on_ready) {
  const int32_t answers = std::clamp(std::max(request.num_answers, request.best_of), 1, ActiveRequest::kMaxAnswers);
  const int64_t told = request.prompt_logprobs >= 0 ? ActiveRequest::kToldRows : 0;
  const auto most_at_once = static_cast<size_t>(answers + told);
  const size_t wanted = request.max_unread > 0 ? static_cast<size_t>(request.max_unread) : shared_->event_capacity;
  std::weak_ptr<Shared> weak = shared_;
  auto stream = std::make_shared<EventStream>(std::max(wanted, 2 * most_at_once), [weak] {
    if (const auto shared = weak.lock()) shared->Wake(&Shared::reader_waits);
  });
  stream->SetOnReady(std::move(on_ready));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<ActiveRequest> active,
                        ActiveRequest::Create(std::move(request), model_, max_context_, stream));
  int64_t id = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->draining || shared_->stopping) return FailedPrecondition("the engine takes no more requests");
    if (shared_->submitted.size() >= shared_->max_inbox) {
      return ResourceExhausted("{} requests have come since the engine's last step; no more fit",
                               shared_->submitted.size());
    }
    id = shared_->next_id++;
    active->id = id;
    shared_->submitted.push_back(std::move(active));
    ++shared_->num_requests;
  }
  shared_->wake.notify_one();
  return RequestHandle(id, std::move(stream), shared_);
}

EngineStats Engine::stats() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->stats;
}

bool Engine::Drain(double timeout_s) {
  std::unique_lock lock(shared_->mutex);
  shared_->draining = true;
  const auto ended = [this] { return shared_->num_requests == 0 || shared_->stopping; };
  return shared_->empty.wait_until(lock, At(SteadySeconds() + std::min(timeout_s, kLongest)), ended);
}

void Engine::Shutdown() {
  shared_->Wake(&Shared::stopping);
  if (thread_.joinable()) thread_.join();
  core_.reset();
}

void Engine::ClearPrefixCache() { shared_->Wake(&Shared::clear_cache); }

void Engine::ThreadMain() {
  Shared& shared = *shared_;
  std::vector<std::unique_ptr<ActiveRequest>> submitted;
  std::vector<Shared::Cancelled> cancelled;
  bool ran = true;
  while (true) {
    bool clear_cache = false;
    bool stopping = false;
    {
      std::unique_lock lock(shared.mutex);
      if (!ran) {
        const auto news = [&shared] {
          return !shared.submitted.empty() || !shared.cancelled.empty() || shared.stopping || shared.reader_waits ||
                 shared.clear_cache;
        };
        shared.wake.wait_until(lock, At(std::min(core_->next_deadline_s(), SteadySeconds() + kLongest)), news);
      }
      submitted.swap(shared.submitted);
      cancelled.swap(shared.cancelled);
      shared.reader_waits = false;
      clear_cache = std::exchange(shared.clear_cache, false);
      stopping = shared.stopping;
    }
    for (auto& request : submitted) core_->Add(std::move(request), SteadySeconds());
    submitted.clear();
    for (const Shared::Cancelled& one : cancelled) {
      if (one.answer == kAllAnswers) {
        core_->End(one.id, FinishReason::kCancelled, SteadySeconds());
      } else {
        core_->EndOne(one.id, one.answer, FinishReason::kCancelled, SteadySeconds());
      }
    }
    cancelled.clear();
    if (clear_cache) core_->ClearPrefixCache();
    if (stopping) core_->EndAll(FinishReason::kCancelled, SteadySeconds());
    ran = !stopping && core_->Step(SteadySeconds());
    const EngineStats stats = core_->stats();
    {
      const std::lock_guard lock(shared.mutex);
      shared.stats = stats;
      shared.num_requests = stats.num_requests + static_cast<int64_t>(shared.submitted.size());
      if (shared.num_requests == 0) shared.empty.notify_all();
    }
    if (stopping) return;
  }
}

}  // namespace adit::engine
