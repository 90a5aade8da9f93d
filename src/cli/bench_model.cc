// adit bench model.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "cli/bench_model.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "cli/machine_bench.h"
#include "cli/model_timer.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "engine/model_runner.h"

namespace adit::cli {

std::vector<ModelTest> TestsOf(const BenchModelOptions& options) {
  std::vector<ModelTest> tests;
  for (const int64_t depth : options.depths) {
    for (const int64_t batch : options.batches) {
      for (const int64_t n : options.prompts) {
        if (n > 0) tests.push_back({.num_prompt = n, .depth = depth, .batch = batch});
      }
      for (const int64_t n : options.gens) {
        if (n > 0) tests.push_back({.num_gen = n, .depth = depth, .batch = batch});
      }
    }
  }
  return tests;
}

Result<ModelBench> LoadBench(const BenchModelOptions& options, int64_t num_threads,
                             const std::vector<ModelTest>& tests) {
  EngineOptions engine = options.engine;
  engine.threads = static_cast<int>(num_threads);
  ModelBench bench;
  ADIT_ASSIGN_OR_RETURN(bench.model, LoadModel(options.model, engine));
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  int64_t kv_tokens = 0;
  int64_t most_rows = options.chunk;
  for (const ModelTest& test : tests) {
    if (test.length() > bench.model->spec().context_length) {
      return InvalidArgument(
          "bench model: {} tokens of depth, prompt and answer are more than the {} of the model's context",
          test.length(), bench.model->spec().context_length);
    }
    kv_tokens = std::max(kv_tokens, test.batch * (test.length() + options.block_size));
    most_rows = std::max(most_rows, test.batch);
  }
  ADIT_ASSIGN_OR_RETURN(kv_tokens, ChosenKvTokens(kv_tokens, kv_tokens, *bench.model, kv_types));
  ADIT_ASSIGN_OR_RETURN(
      bench.runner, engine::ModelRunner::Create(*bench.model, {.kv_types = kv_types,
                                                               .kv_tokens = kv_tokens,
                                                               .max_batch_tokens = most_rows,
                                                               .block_size = static_cast<int>(options.block_size)}));
  return bench;
}

namespace {

// What a test has to read and compute, in all its passes.
struct TestWork {
  plan::Work work;
  double least_seconds = 0.0;
};

TestWork WorkOfTest(const ModelTest& test, const engine::ModelRunner& runner, const plan::MachineLimits& limits) {
  const engine::LoadedModel& model = runner.model();
  TestWork all;
  const auto add = [&](const std::vector<plan::PassRows>& rows) {
    const plan::Work pass = plan::WorkOf(model.spec(), model.weights(), runner.layout(), rows).Total();
    all.work += pass;
    all.least_seconds += plan::LeastSeconds(pass, limits);
  };
  for (int64_t sequence = 0; sequence < test.batch; ++sequence) {
    for (int64_t done = 0; done < test.num_prompt;) {
      const int64_t n = std::min(test.num_prompt - done, runner.max_batch_tokens());
      const int64_t num_logits = done + n == test.num_prompt ? 1 : 0;
      add({{.num_tokens = n, .first_position = test.depth + done, .num_logits = num_logits}});
      done += n;
    }
  }
  for (int64_t i = 0; i < test.num_gen; ++i) {
    add(std::vector<plan::PassRows>(static_cast<size_t>(test.batch),
                                    {.num_tokens = 1, .first_position = test.depth + i, .num_logits = 1}));
  }
  return all;
}

void AddRows(const std::vector<ModelTest>& tests, const engine::ModelRunner& runner, const plan::MachineLimits& limits,
             TableReport& report) {
  const engine::LoadedModel& model = runner.model();
  for (const ModelTest& test : tests) {
    const Spread3 spread = SpreadOf(test.tokens_per_s);
    const TestWork work = WorkOfTest(test, runner, limits);
    const auto tokens = static_cast<double>(test.tokens());
    const double seconds = tokens / spread.median;
    const bool by_memory = work.work.bytes / limits.read_bytes_per_s >= work.least_seconds * 0.999;
    report.rows.push_back(
        {model.path(), test.num_prompt, test.num_gen, test.depth, test.batch, static_cast<int64_t>(model.num_threads()),
         std::string(model.kernels().name), spread.median, spread.least, spread.most, work.work.bytes / tokens,
         work.work.ops() / tokens, work.least_seconds > 0.0 ? TableCell(work.least_seconds / seconds) : TableCell(),
         work.least_seconds > 0.0 ? TableCell(std::string(by_memory ? "memory" : "multipliers")) : TableCell()});
  }
}

const std::vector<TableColumn>& Columns() {
  static const auto* columns = new std::vector<TableColumn>{{"model", ""},
                                                            {"n_prompt", "prompt"},
                                                            {"n_gen", "gen"},
                                                            {"depth", "depth"},
                                                            {"batch", "batch"},
                                                            {"threads", "threads"},
                                                            {"isa", ""},
                                                            {"tokens_per_s", "tokens/s", 1.0, 1},
                                                            {"tokens_per_s_min", "least", 1.0, 1},
                                                            {"tokens_per_s_max", "most", 1.0, 1},
                                                            {"bytes_per_token", "MB/token", 1e-6, 2},
                                                            {"ops_per_token", "Mop/token", 1e-6, 0},
                                                            {"share_of_limit", "% of limit", 100.0, 1},
                                                            {"limit", "limit"}};
  return *columns;
}

// All tests with one number of threads, in turn, so that what drifts on the machine meets all alike.
Status RunTests(const BenchModelOptions& options, int64_t num_threads, ProgressBar& bar, TableReport& report) {
  std::vector<ModelTest> tests = TestsOf(options);
  ADIT_ASSIGN_OR_RETURN(const ModelBench loaded, LoadBench(options, num_threads, tests));
  const std::unique_ptr<engine::LoadedModel>& model = loaded.model;
  const std::unique_ptr<engine::ModelRunner>& runner = loaded.runner;
  const models::ModelWeights& weights = model->weights();
  ADIT_ASSIGN_OR_RETURN(const plan::MachineLimits limits,
                        MeasureLimits(model->exec_context().team, model->kernels(),
                                      weights.layer_products.weight_bytes + weights.output_products.weight_bytes));
  ModelTimer bench(*runner, /*seed=*/1);
  for (const ModelTest& test : tests) ADIT_RETURN_IF_ERROR(bench.Time(test).status());  // warm
  const int64_t repetitions = options.machine.repetitions;
  for (int64_t i = 0; i < repetitions; ++i) {
    for (size_t t = 0; t < tests.size(); ++t) {
      ADIT_ASSIGN_OR_RETURN(const double seconds, bench.Time(tests[t]));
      tests[t].tokens_per_s.push_back(static_cast<double>(tests[t].tokens()) / seconds);
      bar.Update((static_cast<double>(i) + static_cast<double>(t + 1) / static_cast<double>(tests.size())) /
                 static_cast<double>(repetitions));
    }
  }
  AddRows(tests, *runner, limits, report);
  AddLimits(limits, num_threads, report);
  report.settings.push_back({"kv_type", engine::KvTypesName(runner->k_type(), runner->v_type())});
  return Status();
}

}  // namespace

Result<int> Run(const BenchModelOptions& options) {
  if (options.block_size % 16 != 0) return InvalidArgument("--block-size: {} is no multiple of 16", options.block_size);
  if (TestsOf(options).empty()) return InvalidArgument("bench model: nothing to measure: all of -p and -n are 0");
  const plan::ForeignLoad load;
  TableReport report{
      .title = "adit bench model", .settings = {{"file", options.model}}, .columns = Columns(), .rows = {}};
  const std::vector<BenchSetting> machine = MachineSettings();
  report.settings.insert(report.settings.end(), machine.begin(), machine.end());
  report.settings.push_back({"repetitions", options.machine.repetitions});
  report.settings.push_back({"chunk", options.chunk});
  for (const int64_t num_threads : ThreadCounts(options.threads)) {
    ProgressBar bar(Stderr(), fmt::format("{} threads", num_threads));
    ADIT_RETURN_IF_ERROR(options.ablate ? RunModelAblation(options, num_threads, bar, report)
                                        : RunTests(options, num_threads, bar, report));
  }
  report.settings.push_back(OtherLoad(load));
  report.names = {"n_prompt", "n_gen", "depth", "batch", "threads"};
  if (options.ablate) report.names.insert(report.names.begin(), "technique");
  report.bars = options.ablate ? "worth" : "share_of_limit";
  report.reference = options.ablate ? 1.0 : 100.0;
  ADIT_RETURN_IF_ERROR(WriteTable(options.machine, options.ablate ? "worth" : "tokens_per_s", std::move(report)));
  return kExitOk;
}

}  // namespace adit::cli
