#ifndef ADIT_ENGINE_ENGINE_H_
#define ADIT_ENGINE_ENGINE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "adit/status.h"
#include "engine/engine_core.h"

namespace adit::engine {

class Engine;

// A client's end of a request. Dropping it cancels what has not ended.
class RequestHandle {
 public:
  RequestHandle(RequestHandle&&) noexcept = default;
  RequestHandle& operator=(RequestHandle&&) = delete;
  ~RequestHandle();

  int64_t id() const { return id_; }
  // The next event, when it comes; nothing after the last one. One thread at a time.
  std::optional<Event> Next() { return stream_->Next(); }
  std::optional<Event> TryNext() { return stream_->TryNext(); }
  // Ends the request within one step, in whatever phase it is; its last events still come.
  void Cancel();
  // Ends one of its answers, once they have parted; the others go on. Not of a beam search or a best_of.
  void CancelAnswer(int32_t answer);

 private:
  friend class Engine;
  struct Shared;
  RequestHandle(int64_t id, std::shared_ptr<EventStream> stream, std::shared_ptr<Shared> engine);
  void TellCancelled(int32_t answer);

  int64_t id_;
  std::shared_ptr<EventStream> stream_;
  std::shared_ptr<Shared> engine_;
};

// An EngineCore on a thread of its own. Any thread may call; requests and cancellations reach the engine thread through
// a bounded queue, events come back through a bounded stream for each request.
class Engine {
 public:
  // `model` outlives the engine, which has its team of workers to itself.
  static Result<std::unique_ptr<Engine>> Create(const LoadedModel& model, const EngineOptions& options);
  // Shuts down.
  ~Engine();

  // Errors: InvalidArgument for what is wrong in the request; ResourceExhausted when the engine is too far behind;
  // FailedPrecondition once it drains or has shut down. What only the engine thread can tell (a full queue, an
  // objective that cannot be met) comes as an event. `on_ready`, if any: see EventStream::SetOnReady.
  Result<RequestHandle> Submit(GenerationRequest request, std::function<void()> on_ready = {});

  // As of the end of the last step.
  EngineStats stats() const;
  int64_t max_context() const { return max_context_; }
  const LoadedModel& model() const { return model_; }
  const ModelRunner& runner() const { return *runner_; }

  // Takes no more requests, and waits until those there are have ended, at most timeout_s. True when they have.
  bool Drain(double timeout_s);
  // Ends all requests as cancelled and stops the thread. Further calls do nothing.
  void Shutdown();
  // Lets the prefix cache go before the next step.
  void ClearPrefixCache();

 private:
  using Shared = RequestHandle::Shared;
  Engine(const LoadedModel& model, std::unique_ptr<EngineCore> core);
  void ThreadMain();

  const LoadedModel& model_;
  const ModelRunner* const runner_;
  const int64_t max_context_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<EngineCore> core_;  // the engine thread's
  std::thread thread_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_ENGINE_H_
