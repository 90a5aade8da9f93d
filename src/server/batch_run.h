#ifndef ADIT_SERVER_BATCH_RUN_H_
#define ADIT_SERVER_BATCH_RUN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "adit/status.h"
#include "engine/engine.h"
#include "server/api_request.h"

namespace adit::server {

// What a run has done.
struct BatchSummary {
  int64_t num_done = 0;    // results written
  int64_t num_failed = 0;  // of them, those that tell of an error
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompts, found in the cache
  int64_t output_tokens = 0;
  double seconds = 0.0;
  bool interrupted = false;  // stopped before all was done
};

// A line of a file of requests.
struct BatchInputLine {
  int64_t number = 0;      // from 1
  size_t longer_than = 0;  // above 0: it has more bytes than that, and is without its text
  std::string text;
};

enum class BatchPace : uint8_t {
  kGo,
  kPause,  // begin nothing and take nothing: what is under way comes to rest when its streams are full
  kStop,
};

// Where the requests of a run come from, and where their results go. Called on the run's thread.
class BatchJob {
 public:
  virtual ~BatchJob() = default;

  // The next line; false at the end.
  virtual Result<bool> Next(BatchInputLine& line) = 0;
  // There is a result of it already.
  virtual bool IsAnswered(int64_t line, const std::optional<std::string>& custom_id) const = 0;
  // Why this request is not to be run, if it is not; sets what its sender does not.
  virtual std::optional<ApiError> Prepare(ApiRequest& request) = 0;
  // A line of results with its line end. `failed`: it tells of an error.
  virtual Status Write(const std::string& line, bool failed) = 0;
  // Asked at least ten times a second.
  virtual BatchPace Pace() = 0;
  // Told as often what has been done; `num_tokens` have come of answers, of those too that are not done.
  virtual void Progress(const BatchSummary& summary, int64_t num_tokens) = 0;
};

struct BatchRunOptions {
  size_t max_live = 128;   // requests in the engine at once
  size_t max_prefill = 0;  // of them without a token so far; 0: no limit
};

// Answers the requests of a job, many at once, and hands over each result when it is there, in that order. A request
// that fails is a result too. Errors are those of the job. When it is to stop, what is under way has no results.
Result<BatchSummary> RunBatch(engine::Engine& engine, const ApiModel& model, BatchJob& job,
                              const BatchRunOptions& options);

}  // namespace adit::server

#endif  // ADIT_SERVER_BATCH_RUN_H_
