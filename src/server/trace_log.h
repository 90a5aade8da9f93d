#ifndef ADIT_SERVER_TRACE_LOG_H_
#define ADIT_SERVER_TRACE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "engine/engine.h"
#include "server/request_record.h"

namespace adit::server {

// What has happened of late, for people who look into why something took long: steps of the engine and requests, as
// Chrome's trace viewer and Perfetto show them. Bounded. Any thread.
class TraceLog {
 public:
  // What a model's engine says of itself now; to be called when it has stepped. Steps that come between two calls are
  // told together.
  void NoteEngine(const std::string& model, const engine::EngineStats& stats);
  // A request has ended, now.
  void NoteRequest(const RequestRecord& record, bool client_gone, double now_s);

  // The last seconds before `now_s`, of the steady clock: {"traceEvents": [...]}.
  std::string ChromeTrace(double seconds, double now_s) const;

 private:
  // Steps between two looks at the engine.
  struct Steps {
    std::string model;
    double end_s = 0.0;
    int64_t count = 0;
    double plan_s = 0.0;
    double model_s = 0.0;
    double sample_s = 0.0;
    int64_t prompt_tokens = 0;
    int64_t output_tokens = 0;
    int64_t running = 0;
    int64_t waiting = 0;
  };
  struct Request {
    std::string id;
    std::string route;
    int status = 0;
    double begin_s = 0.0;
    double end_s = 0.0;
    double queue_s = 0.0;
    double first_token_s = 0.0;  // 0: none
    bool generates = false;
    int64_t prompt_tokens = 0;
    int64_t cached_tokens = 0;
    int64_t output_tokens = 0;
    std::string finish_reason;
  };

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Steps> steps_;
  std::deque<Request> requests_;
  std::map<std::string, engine::EngineStats> last_;  // of each model
};

}  // namespace adit::server

#endif  // ADIT_SERVER_TRACE_LOG_H_
