#ifndef ADIT_SERVER_ENGINE_RUN_H_
#define ADIT_SERVER_ENGINE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "adit/status.h"
#include "engine/engine.h"
#include "server/api_answer.h"

namespace adit::server {

// Compiles a request's constraint, if it has one, and waits for it.
std::optional<ApiError> CompileConstraint(engine::Engine& engine, ApiRequest& request);

// The engine's side of one request of a client: a request to the engine for each prompt. Dropping it cancels what has
// not ended. One thread at a time.
class EngineRun {
 public:
  // Takes the prompts out of `request`, and compiles its constraint if nobody has. `on_ready` is called on the engine's
  // thread when there is something to read. Errors as engine::Engine::Submit.
  static Result<EngineRun> Submit(engine::Engine& engine, ApiRequest& request, std::function<void()> on_ready);

  // Hands what there is to read to the answer. Answers that have met a stop string and prompts whose answers are
  // complete are cancelled, as are all when one has failed. True when nothing more will come. Returns after about
  // `max_events`, so that who streams can send on the way.
  bool Read(ApiAnswer& answer, size_t max_events = SIZE_MAX);
  void Cancel();

  int64_t num_events() const { return num_events_; }  // that have told of tokens
  // Whether the last Read stopped at max_events.
  bool has_more() const { return has_more_; }

 private:
  struct Part {
    engine::RequestHandle handle;
    bool cancelled = false;
    bool ended = false;
    std::vector<bool> ended_answers;  // that the engine, or a stop string, has ended
  };
  static void CancelComplete(size_t index, int32_t answer, const ApiAnswer& all, Part& part);

  std::vector<Part> parts_;
  size_t num_ended_ = 0;
  int64_t num_events_ = 0;
  bool has_more_ = false;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_ENGINE_RUN_H_
