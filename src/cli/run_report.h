#ifndef ADIT_CLI_RUN_REPORT_H_
#define ADIT_CLI_RUN_REPORT_H_

#include "engine/generator.h"
#include "engine/model_runner.h"

namespace adit::cli {

// Prints to stderr what one answer took: times, rates, memory, and what to repeat it with.
void ReportRun(const engine::ModelRunner& runner, const engine::GenerateOptions& options,
               const engine::GenerateStats& stats);

}  // namespace adit::cli

#endif  // ADIT_CLI_RUN_REPORT_H_
