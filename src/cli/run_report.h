#ifndef ADIT_CLI_RUN_REPORT_H_
#define ADIT_CLI_RUN_REPORT_H_

#include <cstdint>

#include "engine/model_runner.h"
#include "engine/request.h"

namespace adit::cli {

// Prints to stderr what one answer took: times, rates, memory, and what to repeat it with.
void ReportRun(const engine::ModelRunner& runner, int64_t seed, const engine::AnswerStats& stats);

}  // namespace adit::cli

#endif  // ADIT_CLI_RUN_REPORT_H_
