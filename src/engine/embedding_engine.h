#ifndef ADIT_ENGINE_EMBEDDING_ENGINE_H_
#define ADIT_ENGINE_EMBEDDING_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "adit/status.h"
#include "engine/embedder.h"
#include "engine/loaded_model.h"

namespace adit::engine {

struct EmbeddingEngineOptions {
  EmbedderOptions embedder;
  int64_t max_queued_requests = 1024;  // that have not ended; 0: no limit
};

struct EmbeddingRequest {
  std::vector<std::vector<int32_t>> texts;  // token ids of each
  EmbeddingForm form;                       // of each
  std::vector<int64_t> second_texts;        // EmbeddingForm::second_text of each, or empty: none is a pair
  int32_t priority = 0;                     // lower runs first
};

// The embeddings of a request's texts, in their order.
using Embeddings = std::vector<std::vector<float>>;

struct EmbeddingStats {
  int64_t num_requests = 0;  // that have not ended
  int64_t num_waiting = 0;   // texts of theirs that no pass has taken yet
  int64_t passes = 0;
  int64_t tokens = 0;  // computed
};

// A client's end of a request. Dropping it takes back the texts that no pass has taken yet.
class EmbeddingHandle {
 public:
  struct Job;
  struct Shared;

  EmbeddingHandle(std::shared_ptr<Job> job, std::shared_ptr<Shared> shared);
  EmbeddingHandle(EmbeddingHandle&&) noexcept = default;
  EmbeddingHandle& operator=(EmbeddingHandle&&) = delete;
  ~EmbeddingHandle();

  // Nothing while the request is under way; then what has come of it, once.
  std::optional<Result<Embeddings>> TryTake();

 private:
  std::shared_ptr<Job> job_;
  std::shared_ptr<Shared> shared_;
};

// An Embedder on a thread of its own. Any thread may call. Texts of several requests share passes; requests of one
// priority take turns, a text at a time, so that none waits for all texts of another.
class EmbeddingEngine {
 public:
  // `model`, whose team of workers the engine has to itself, outlives it.
  static Result<std::unique_ptr<EmbeddingEngine>> Create(const LoadedModel& model,
                                                         const EmbeddingEngineOptions& options);
  // Ends all requests as cancelled.
  ~EmbeddingEngine();

  // Errors: those of Embedder::Embed; ResourceExhausted when too many wait. `on_ready` is called on the engine's thread
  // when the request has ended.
  Result<EmbeddingHandle> Submit(EmbeddingRequest request, std::function<void()> on_ready);

  EmbeddingStats stats() const;
  const EmbedderOptions& options() const { return options_; }

 private:
  using Job = EmbeddingHandle::Job;
  using Shared = EmbeddingHandle::Shared;

  EmbeddingEngine(const EmbeddingEngineOptions& options, std::unique_ptr<Embedder> embedder);
  // Where a text of a pass came from.
  struct Place {
    std::shared_ptr<Job> job;
    size_t text;
  };
  struct Pass {
    std::vector<Place> from;
    std::vector<std::vector<int32_t>> texts;
    std::vector<EmbeddingForm> forms;
    int64_t num_tokens = 0;
  };
  void ThreadMain();
  Pass TakeTexts();
  void RunPass();

  const EmbedderOptions options_;
  std::shared_ptr<Shared> shared_;
  const std::unique_ptr<Embedder> embedder_;  // Embed and its memory are the thread's
  std::thread thread_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_EMBEDDING_ENGINE_H_
