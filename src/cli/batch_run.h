#ifndef ADIT_CLI_BATCH_RUN_H_
#define ADIT_CLI_BATCH_RUN_H_

#include <cstddef>
#include <cstdint>

#include "adit/status.h"
#include "cli/batch_files.h"
#include "engine/engine.h"
#include "server/api_request.h"

namespace adit::cli {

// What a run has done.
struct BatchSummary {
  int64_t num_done = 0;    // results written
  int64_t num_failed = 0;  // of them, those that tell of an error
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompts, found in the cache
  int64_t output_tokens = 0;
  double seconds = 0.0;
  bool interrupted = false;  // by a signal (signals.h), before all was done
};

struct BatchRunOptions {
  size_t max_live = 128;  // requests in the engine at once
  int64_t num_new = 0;    // requests that are not answered yet, for the progress bar
};

// Answers the requests of `input` that `output` has no results of, many at once, and writes each result when it is
// done, in that order. A request that fails is a result too. Errors are those of the files. Requires an InterruptScope:
// a signal ends the run, without the results of what is under way.
Result<BatchSummary> RunBatch(engine::Engine& engine, const server::ApiModel& model, BatchInput& input,
                              BatchOutput& output, const BatchRunOptions& options);

}  // namespace adit::cli

#endif  // ADIT_CLI_BATCH_RUN_H_
