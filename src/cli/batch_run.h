#ifndef ADIT_CLI_BATCH_RUN_H_
#define ADIT_CLI_BATCH_RUN_H_

#include <cstddef>
#include <cstdint>

#include "adit/status.h"
#include "cli/batch_files.h"
#include "engine/engine.h"
#include "server/api_request.h"
#include "server/batch_run.h"

namespace adit::cli {

// Answers the requests of `input` that `output` has no results of, at most max_live at once, and writes each result
// when it is done. `num_new`: how many that are, for the progress bar. Errors are those of the files. Requires an
// InterruptScope: a signal ends the run, without the results of what is under way.
Result<server::BatchSummary> RunBatchFiles(engine::Engine& engine, const server::ApiModel& model, BatchInput& input,
                                           BatchOutput& output, size_t max_live, int64_t num_new);

}  // namespace adit::cli

#endif  // ADIT_CLI_BATCH_RUN_H_
