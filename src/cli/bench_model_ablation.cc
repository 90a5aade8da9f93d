// adit bench model --ablate.
#include <sys/prctl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/bench_model.h"
#include "cli/machine_bench.h"
#include "kernels/dispatch.h"

namespace adit::cli {
namespace {

// How the model is loaded and run.
struct Setup {
  BenchModelOptions options;
  int64_t num_threads = 1;
  bool huge_pages = true;
  engine::LogitsWanted prompt_logits = engine::LogitsWanted::kLast;
};

// A technique that is on, and the setup without it.
struct ModelTechnique {
  std::string name;
  std::string instead;
  bool concerns_generation = true;  // not prompts alone
  Setup without;
};

// While one is there, buffers get no huge pages.
class SmallPages {
 public:
  explicit SmallPages(bool on) : on_(on) { Set(1); }
  ~SmallPages() { Set(0); }
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;

 private:
  void Set(unsigned long disable) const {
    if (on_) prctl(PR_SET_THP_DISABLE, disable, 0, 0, 0);
  }
  bool on_;
};

// The fastest set of other vectors than those of `kernels` that is not ref; null when there is none.
const kernels::KernelTable* NextVectors(const kernels::KernelTable& kernels) {
  bool is_lower = false;
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    is_lower = is_lower || set.table == &kernels;
    if (!is_lower || !set.available || set.table->quantize_q8 == kernels.quantize_q8) continue;
    return set.table == kernels::KernelSets().back().table ? nullptr : set.table;
  }
  return nullptr;
}

// The tests that it makes a difference to.
std::vector<ModelTest> Concerned(const ModelTechnique& technique, std::vector<ModelTest> tests) {
  if (!technique.concerns_generation) std::erase_if(tests, [](const ModelTest& test) { return test.num_gen > 0; });
  return tests;
}

std::vector<ModelTechnique> ModelTechniquesOf(const Setup& setup, const ModelBench& bench) {
  std::vector<ModelTechnique> techniques;
  const auto add = [&](const char* name, std::string instead, auto change) -> ModelTechnique& {
    techniques.push_back({.name = name, .instead = std::move(instead), .without = setup});
    change(techniques.back().without);
    return techniques.back();
  };
  if (setup.num_threads > 1) add("threads", "one thread", [](Setup& s) { s.num_threads = 1; });
  if (bench.model->exec_context().team.bound()) {
    add("bound_threads", "threads where the system puts them", [](Setup& s) { s.options.engine.bind_threads = false; });
  }
  if (const kernels::KernelTable* next = NextVectors(bench.model->kernels()); next != nullptr) {
    add("vectors", next->name, [&](Setup& s) { s.options.engine.isa = next->name; });
  }
  if (setup.options.chunk > 1) {
    add("passes", "a pass for each prompt token", [](Setup& s) { s.options.chunk = 1; }).concerns_generation = false;
  }
  add("wanted_logits", "logits of every prompt token", [](Setup& s) {
    s.prompt_logits = engine::LogitsWanted::kAll;
  }).concerns_generation = false;
  if (bench.model->weights().least_outlier > 0.0f) {
    add("outliers", "second terms of activations in every block",
        [](Setup& s) { s.options.engine.activation_terms = "two"; });
  }
  add("huge_pages", "pages of 4 KB", [](Setup& s) { s.huge_pages = false; });
  if (bench.runner->k_type() == kernels::KvType::kF16 && bench.runner->v_type() == kernels::KvType::kF16) {
    add("f16_kv", "keys and values as floats", [](Setup& s) { s.options.engine.kv_type = "f32"; });
  }
  return techniques;
}

// Runs each test once, after one to warm up, and adds its rate to it.
Status RunOnce(const Setup& setup, std::vector<ModelTest>& tests) {
  const SmallPages small_pages(!setup.huge_pages);
  ADIT_ASSIGN_OR_RETURN(const ModelBench bench, LoadBench(setup.options, setup.num_threads, tests));
  ModelTimer timer(*bench.runner, /*seed=*/1, setup.prompt_logits);
  for (ModelTest& test : tests) {
    ADIT_RETURN_IF_ERROR(timer.Time(test).status());
    ADIT_ASSIGN_OR_RETURN(const double seconds, timer.Time(test));
    test.tokens_per_s.push_back(static_cast<double>(test.tokens()) / seconds);
  }
  return Status();
}

const std::vector<TableColumn>& AblationColumns() {
  static const auto* columns = new std::vector<TableColumn>{{"technique", "technique"},
                                                            {"instead", "instead"},
                                                            {"n_prompt", "prompt"},
                                                            {"n_gen", "gen"},
                                                            {"depth", "depth"},
                                                            {"batch", "batch"},
                                                            {"threads", "threads"},
                                                            {"tokens_per_s", "tokens/s", 1.0, 1},
                                                            {"tokens_per_s_without", "without", 1.0, 1},
                                                            {"worth", "worth", 1.0, 2},
                                                            {"worth_min", "least", 1.0, 2},
                                                            {"worth_max", "most", 1.0, 2}};
  return *columns;
}

void AddRows(const ModelTechnique& technique, int64_t num_threads, const std::vector<ModelTest>& with,
             const std::vector<ModelTest>& without, TableReport& report) {
  for (size_t t = 0; t < with.size(); ++t) {
    const ModelTest& test = with[t];
    std::vector<double> ratios;
    for (size_t i = 0; i < test.tokens_per_s.size(); ++i) {
      ratios.push_back(test.tokens_per_s[i] / without[t].tokens_per_s[i]);
    }
    const Spread3 worth = SpreadOf(ratios);
    report.rows.push_back({technique.name, technique.instead, test.num_prompt, test.num_gen, test.depth, test.batch,
                           num_threads, SpreadOf(test.tokens_per_s).median, SpreadOf(without[t].tokens_per_s).median,
                           worth.median, worth.least, worth.most});
  }
}

}  // namespace

Status RunModelAblation(const BenchModelOptions& options, int64_t num_threads, ProgressBar& bar, TableReport& report) {
  const Setup with{.options = options, .num_threads = num_threads};
  std::vector<ModelTechnique> techniques;
  {
    ADIT_ASSIGN_OR_RETURN(const ModelBench bench, LoadBench(options, num_threads, TestsOf(options)));
    techniques = ModelTechniquesOf(with, bench);
  }
  std::vector<ModelTest> tests = TestsOf(options);
  std::vector<std::vector<ModelTest>> tests_without;
  for (const ModelTechnique& technique : techniques) tests_without.push_back(Concerned(technique, tests));
  const int64_t repetitions = options.machine.repetitions;
  for (int64_t i = 0; i < repetitions; ++i) {
    ADIT_RETURN_IF_ERROR(RunOnce(with, tests));
    for (size_t k = 0; k < techniques.size(); ++k) {
      if (!tests_without[k].empty()) ADIT_RETURN_IF_ERROR(RunOnce(techniques[k].without, tests_without[k]));
      bar.Update((static_cast<double>(i) + static_cast<double>(k + 1) / static_cast<double>(techniques.size())) /
                 static_cast<double>(repetitions));
    }
  }
  report.columns = AblationColumns();
  for (size_t k = 0; k < techniques.size(); ++k) {
    AddRows(techniques[k], num_threads, Concerned(techniques[k], tests), tests_without[k], report);
  }
  return Status();
}

}  // namespace adit::cli
