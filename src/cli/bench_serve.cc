// adit bench serve.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/bench_comparison.h"
#include "cli/bench_run.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/prompt_words.h"
#include "cli/serve_load.h"

namespace adit::cli {
namespace {

Status CheckExtraBody(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return Status();
  return InvalidArgument("--extra-body: '{}' is no JSON object", text.substr(0, 100));
}

Result<ServeTarget> TargetOf(const BenchServeOptions& options, const std::string& url, const std::string& model) {
  ServeTarget target{.model = model,
                     .api_key = options.api_key,
                     .endpoint = options.endpoint == "chat" ? ServedEndpoint::kChat : ServedEndpoint::kCompletions,
                     .ignore_eos = options.ignore_eos,
                     .extra_body = options.extra_body,
                     .timeout_s = options.timeout_s};
  ADIT_ASSIGN_OR_RETURN(target.url, ParseServerUrl(url));
  if (!target.model.empty()) return target;
  ADIT_ASSIGN_OR_RETURN(const std::optional<std::string> first, FirstModelOf(target));
  if (!first) return InvalidArgument("{}: the server names no model; --model does", target.url);
  target.model = *first;
  return target;
}

Status CheckOptions(const BenchServeOptions& options) {
  if (options.url.empty()) return InvalidArgument("bench serve: --url is required: http://HOST:PORT of a server");
  if (options.token_ids > 0 && options.endpoint != "completions") {
    return InvalidArgument("--token-ids: chats have no token ids; it goes with '--endpoint completions'");
  }
  if (options.token_ids > 0 && options.bench.workload.turns > 1) {
    return InvalidArgument("--token-ids: a server does not tell the ids of its answers, which later turns begin with");
  }
  if (!(options.timeout_s > 0)) return InvalidArgument("--timeout: {} is not above 0", options.timeout_s);
  return CheckExtraBody(options.extra_body);
}

// Serves the load of round `round`: of each round the texts are others, so that no cache knows them from before.
Result<BenchRun> RunRound(const BenchServeOptions& options, const ServeTarget& target, int64_t round,
                          const LoadProgress& progress) {
  BenchOptions bench = options.bench;
  bench.workload.seed += static_cast<uint64_t>(round);
  const auto vocab_size = options.token_ids > 0 ? static_cast<int32_t>(options.token_ids) : kNumPromptWords;
  ADIT_ASSIGN_OR_RETURN(const sched::Workload workload, MakeWorkload(bench, vocab_size));
  return LoadServer(target, workload,
                    {.max_concurrency = options.max_concurrency,
                     .sends_ids = options.token_ids > 0,
                     .system_tokens = bench.workload.shared_prefix_tokens,
                     .objectives = bench.objectives},
                    progress);
}

struct Rounds {
  std::vector<BenchRun> ours;
  std::vector<BenchRun> theirs;  // of the other server, if there is one
};

// Round by round, and in a round one server after the other, who comes first taking turns: what drifts on the machine
// meets both alike.
Result<Rounds> RunRounds(const BenchServeOptions& options, const ServeTarget& target,
                         const std::optional<ServeTarget>& other) {
  Rounds rounds;
  const int64_t each = other ? 2 : 1;
  ProgressBar bar(Stderr(), "Serving");
  int64_t done = 0;
  const auto progress = [&](double share) {
    bar.Update((static_cast<double>(done) + share) / static_cast<double>(each * options.bench.repeat));
  };
  for (int64_t round = 0; round < options.bench.repeat; ++round) {
    for (int64_t turn = 0; turn < each; ++turn, ++done) {
      const bool is_other = other && (round + turn) % 2 == 1;
      ADIT_ASSIGN_OR_RETURN(BenchRun run, RunRound(options, is_other ? *other : target, round, progress));
      (is_other ? rounds.theirs : rounds.ours).push_back(std::move(run));
    }
  }
  return rounds;
}

std::vector<BenchSetting> SettingsOfServer(const BenchServeOptions& options, const ServeTarget& target,
                                           const std::optional<ServeTarget>& other) {
  std::vector<BenchSetting> settings = {{"url", target.url}, {"model", target.model}, {"endpoint", options.endpoint}};
  if (other) {
    settings.push_back({"vs_url", other->url});
    settings.push_back({"vs_model", other->model});
  }
  settings.push_back({"max_concurrency", options.max_concurrency});
  settings.push_back({"ignore_eos", options.ignore_eos});
  if (options.token_ids > 0) settings.push_back({"token_ids", options.token_ids});
  if (options.extra_body != "{}") settings.push_back({"extra_body", options.extra_body});
  settings.push_back({"rounds", options.bench.repeat});
  return settings;
}

}  // namespace

Result<int> Run(const BenchServeOptions& options) {
  ADIT_RETURN_IF_ERROR(CheckOptions(options));
  std::string earlier;
  if (options.compare) {
    ADIT_ASSIGN_OR_RETURN(earlier, ReadFileOrStdin(*options.compare));
  }
  // What is wrong in the load is told before a server is asked.
  ADIT_ASSIGN_OR_RETURN(const sched::Workload workload, MakeWorkload(options.bench, kNumPromptWords));
  ADIT_ASSIGN_OR_RETURN(ReportSink sink, ReportSink::Open(options.bench.output_file));
  ADIT_ASSIGN_OR_RETURN(const ServeTarget target, TargetOf(options, options.url, options.model));
  std::optional<ServeTarget> other;
  if (options.vs) {
    ADIT_ASSIGN_OR_RETURN(ServeTarget second, TargetOf(options, *options.vs, options.vs_model));
    other = std::move(second);
  }
  ADIT_ASSIGN_OR_RETURN(Rounds rounds, RunRounds(options, target, other));
  BenchReport report{.title = "adit bench serve",
                     .settings = SettingsOfServer(options, target, other),
                     .tenants = {},
                     .run = {},
                     .repeats = options.bench.repeat,
                     .ledger = {},
                     .comparisons = {}};
  const std::vector<BenchSetting> load = LoadSettingsOf(options.bench, workload);
  report.settings.insert(report.settings.end(), load.begin(), load.end());
  if (other) report.comparisons.push_back(CompareRuns(other->url, rounds.ours, rounds.theirs));
  report.run = std::move(rounds.ours[MiddleRun(rounds.ours)]);
  if (options.compare) {
    ADIT_ASSIGN_OR_RETURN(BenchComparison before, CompareWithReport(*options.compare, earlier, report.run));
    report.comparisons.push_back(std::move(before));
  }
  for (const sched::WorkloadTenant& tenant : workload.tenants()) report.tenants.push_back(tenant.name);
  ADIT_RETURN_IF_ERROR(sink.Write(RenderReport(report, options.bench.format)));
  if (report.run.summary.ended(sched::Ending::kComplete) > 0) return kExitOk;
  return Io("bench serve: no request completed; the report tells why");
}

}  // namespace adit::cli
