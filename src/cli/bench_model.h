#ifndef ADIT_CLI_BENCH_MODEL_H_
#define ADIT_CLI_BENCH_MODEL_H_

#include <memory>
#include <vector>

#include "adit/status.h"
#include "cli/model_timer.h"
#include "cli/options.h"
#include "cli/progress_bar.h"
#include "cli/table_report.h"
#include "engine/loaded_model.h"
#include "engine/model_runner.h"

namespace adit::cli {

// The tests that the counts of `options` stand for.
std::vector<ModelTest> TestsOf(const BenchModelOptions& options);

struct ModelBench {
  std::unique_ptr<engine::LoadedModel> model;
  std::unique_ptr<engine::ModelRunner> runner;  // with a cache for the largest of the tests
};
// InvalidArgument where a test is longer than the model's context.
Result<ModelBench> LoadBench(const BenchModelOptions& options, int64_t num_threads,
                             const std::vector<ModelTest>& tests);

// What each technique that is on is worth to a single stream: the tests with it and, in the same repetitions, with what
// would be there instead. Rows are added to `report`, which gets its columns here.
Status RunModelAblation(const BenchModelOptions& options, int64_t num_threads, ProgressBar& bar, TableReport& report);

}  // namespace adit::cli

#endif  // ADIT_CLI_BENCH_MODEL_H_
