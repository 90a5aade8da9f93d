// adit bench startup.
#include <array>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "cli/machine_bench.h"
#include "engine/machine.h"
#include "engine/model_runner.h"

namespace adit::cli {
namespace {

// What one start takes, in seconds.
struct Start {
  double load = 0.0;         // file mapped, tokenizer built, weights packed
  double first_token = 0.0;  // from nothing to the logits behind a prompt
};

Result<Start> StartOnce(const BenchStartupOptions& options, int64_t& file_bytes) {
  const double begin = SteadySeconds();
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  Start start{.load = SteadySeconds() - begin};
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::ModelRunner> runner,
                        engine::ModelRunner::Create(*model, {.kv_types = kv_types, .kv_tokens = 256}));
  std::array<int32_t, 16> tokens;
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>(static_cast<int64_t>(i) * 7 % model->spec().vocab_size);
  }
  engine::SequenceCache sequence = runner->NewSequence();
  const engine::SequenceStep step{.sequence = &sequence, .tokens = tokens};
  ADIT_RETURN_IF_ERROR(runner->Run(std::span(&step, 1)).status());
  start.first_token = SteadySeconds() - begin;
  file_bytes = static_cast<int64_t>(model->file().size_bytes());
  return start;
}

}  // namespace

Result<int> Run(const BenchStartupOptions& options) {
  const plan::ForeignLoad load;
  TableReport report{.title = "adit bench startup",
                     .settings = {{"file", options.model}},
                     .columns = {{"phase", "phase"},
                                 {"seconds", "seconds", 1.0, 3},
                                 {"seconds_min", "least", 1.0, 3},
                                 {"seconds_max", "most", 1.0, 3}},
                     .rows = {}};
  std::vector<double> loads;
  std::vector<double> first_tokens;
  int64_t file_bytes = 0;
  for (int64_t i = 0; i < options.machine.repetitions; ++i) {
    ADIT_ASSIGN_OR_RETURN(const Start start, StartOnce(options, file_bytes));
    loads.push_back(start.load);
    first_tokens.push_back(start.first_token);
  }
  const auto add = [&](const char* phase, std::vector<double> seconds) {
    const Spread3 spread = SpreadOf(std::move(seconds));
    report.rows.push_back({std::string(phase), spread.median, spread.least, spread.most});
  };
  add("load", std::move(loads));
  add("load to first token", std::move(first_tokens));
  const std::vector<BenchSetting> machine = MachineSettings();
  report.settings.insert(report.settings.end(), machine.begin(), machine.end());
  report.settings.push_back({"repetitions", options.machine.repetitions});
  report.settings.push_back({"file_bytes", file_bytes});
  report.settings.push_back({"peak_bytes", engine::PeakResidentBytes()});
  report.settings.push_back(OtherLoad(load));
  report.names = {"phase"};
  report.bars = "seconds";
  ADIT_RETURN_IF_ERROR(WriteTable(options.machine, "seconds", std::move(report)));
  return kExitOk;
}

}  // namespace adit::cli
