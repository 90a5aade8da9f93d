// Flags of adit bench.
#include <cstdint>
#include <limits>
#include <string>

#include "cli/command_flags.h"

namespace adit::cli {
namespace {

void AddLoad(CLI::App& app, BenchOptions& out) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  AddText(app, "--dataset", out.dataset, "random, chat (log-normal lengths), or a JSONL trace; - is stdin [random]",
          "NAME");
  AddCount(
      app, "--num-prompts", 1, kMax, [&out](int64_t n) { out.num_prompts = n; }, "Requests [100; a trace: all]");
  AddReal(app, "--request-rate", out.workload.requests_per_s,
          "Arrivals of first turns a second; inf: all at once [inf]");
  AddReal(app, "--burstiness", out.workload.burstiness, "Shape of the gaps: 1 is Poisson, below 1 burstier [1]");
  AddParsed(app, "--input-len", &sched::LengthDistribution::Parse, out.input_len,
            "New prompt tokens: N, uniform:LOW:HIGH or lognormal:MEDIAN:SIGMA[:LOW:HIGH] [512]", "LENGTH");
  AddParsed(app, "--output-len", &sched::LengthDistribution::Parse, out.output_len, "Tokens of answers [128]",
            "LENGTH");
  AddCount(
      app, "--shared-prefix", 0, kMax, [&out](int64_t n) { out.workload.shared_prefix_tokens = n; },
      "Tokens that prompts of a group begin with [0]");
  AddCount(
      app, "--prefix-groups", 1, kMax, [&out](int64_t n) { out.workload.num_prefix_groups = n; }, "Groups [1]");
  AddCount(
      app, "--turns", 1, kMax, [&out](int64_t n) { out.workload.turns = n; }, "Requests of a conversation [1]");
  AddReal(app, "--think-time", out.workload.think_s, "Mean seconds from an answer to the next turn [0]");
  AddParsed(app, "--tenants", &sched::ParseTenants, out.workload.tenants,
            "How many, or NAME:SHARE[:WEIGHT] between commas [1]", "TENANTS");
  AddCount(
      app, "--priorities", 1, 1000, [&out](int64_t n) { out.workload.num_priorities = static_cast<int32_t>(n); },
      "Priorities 0..N-1, evenly drawn [1]");
  AddCount(
      app, "--seed", 0, kMax, [&out](int64_t n) { out.workload.seed = static_cast<uint64_t>(n); },
      "Seed of the load [0]");
  AddParsed(app, "--slo", &sched::ParseObjectives, out.objectives,
            "Objectives in ms, ttft:X,tpot:X: counts what meets them", "SLO");
}

void AddScheduling(CLI::App& app, BenchOptions& out) {
  constexpr int64_t kMax = 1 << 30;
  sched::SchedulerOptions& scheduler = out.scheduler;
  AddParsed(app, "--policy", &sched::ParsePolicy, scheduler.policy, "fcfs, priority, sjf, lpm, fair or deadline [fcfs]",
            "NAME");
  AddParsed(app, "--batching", &sched::ParseBatching, scheduler.batching, "continuous or static [continuous]", "NAME");
  AddSwitch(
      app, "--no-chunked-prefill", [&] { scheduler.chunked_prefill = false; }, "Run prompts whole");
  AddSwitch(
      app, "--no-prefix-cache", [&] { scheduler.prefix_cache = false; }, "Compute every prompt whole");
  AddCount(
      app, "--max-num-seqs", 1, kMax, [&](int64_t n) { scheduler.max_num_seqs = n; }, "Sequences at once [64]");
  AddCount(
      app, "--max-num-batched-tokens", 1, kMax, [&](int64_t n) { scheduler.max_batch_tokens = n; },
      "Tokens of a step [512]");
  AddScaled(app, "--itl-target-ms", 1e-3, scheduler.itl_target_s,
            "Keep chunks so small that steps with decodes take no longer [0: off]");
  AddCount(
      app, "--max-queued-requests", 0, kMax, [&](int64_t n) { scheduler.max_queued_requests = n; },
      "Refuse more that wait; 0: no limit [0]");
  CLI::Option* tokens = AddCount(
      app, "--kv-tokens", 1, kMax, [&out](int64_t n) { out.kv_tokens = n; }, "Tokens that the cache holds");
  CLI::Option* pages = AddCount(
      app, "--pages", 1, kMax, [&out](int64_t n) { out.pages = n; }, "The same in pages");
  Exclude(tokens, pages);
  AddCount(
      app, "--block-size", 1, 1024, [&](int64_t n) { scheduler.groups.block_size = n; }, "Tokens of a page [16]");
}

void AddReport(CLI::App& app, BenchOptions& out) {
  const auto set_format = [&out](const std::string& name) {
    out.format = name == "json" ? ReportFormat::kJson : name == "html" ? ReportFormat::kHtml : ReportFormat::kMarkdown;
  };
  AddWord(app, "-o,--output-format", {"md", "json", "html"}, set_format, "md, json or html [md]", "FORMAT");
  AddText(app, "--output-file", out.output_file, "Write the report there [stdout]", "FILE");
}

void AddRuns(CLI::App& app, BenchOptions& out) {
  AddSwitch(app, "--ablate", out.ablate, "Run again without each technique: what each is worth");
  AddCount(
      app, "--repeat", 1, 1000, [&out](int64_t n) { out.repeat = n; }, "Runs of each, for medians [1]");
}

}  // namespace

void AddBenchSimulate(CLI::App& app, BenchSimulateOptions& out) {
  AddLoad(app, out.bench);
  AddCount(
      app, "--max-tokens", 0, std::numeric_limits<int64_t>::max(),
      [&out](int64_t n) { out.bench.workload.declared_tokens = n; },
      "What requests declare; 0: what their answer will have [0]");
  AddScheduling(app, out.bench);
  AddParsed(app, "--cost", &sched::ParseStepCost, out.cost,
            "Step: BASE_MS,PREFILL_US,DECODE_US,CONTEXT_NS [10,200,250,100]", "COST");
  AddReport(app, out.bench);
  AddRuns(app, out.bench);
}

void AddBenchThroughput(CLI::App& app, BenchThroughputOptions& out) {
  AddModel(app, out.model);
  AddLoad(app, out.bench);
  AddScheduling(app, out.bench);
  AddReport(app, out.bench);
  AddRuns(app, out.bench);
  AddText(app, "--memory", out.memory,
          "Size the cache by what the process may come to use: 24G, or a share of the machine", "SIZE");
  AddEngine(app, out.engine);
}

void AddBenchServe(CLI::App& app, BenchServeOptions& out) {
  AddText(app, "--url", out.url, "The server: http://HOST:PORT", "URL");
  AddText(app, "--model", out.model, "Name of the model [the first that the server names]", "NAME");
  AddText(app, "--api-key", out.api_key, "Key for the server", "KEY");
  AddText(app, "--vs", out.vs, "Another server, asked the same in turns with the first", "URL");
  AddText(app, "--vs-model", out.vs_model, "Name of its model", "NAME");
  AddWord(
      app, "--endpoint", {"chat", "completions"}, [&out](const std::string& name) { out.endpoint = name; },
      "chat or completions [chat]", "NAME");
  AddLoad(app, out.bench);
  AddCount(
      app, "--max-concurrency", 1, 1 << 16, [&out](int64_t n) { out.max_concurrency = n; },
      "Requests at once; more wait until one has ended [no limit]");
  AddSwitch(
      app, "--no-ignore-eos", [&out] { out.ignore_eos = false; },
      "Do not send 'ignore_eos', which some servers refuse: answers end where the model ends them");
  AddCount(
      app, "--token-ids", 1, 1 << 22, [&out](int64_t n) { out.token_ids = n; },
      "Prompts of completions are token ids below N, not words");
  AddText(app, "--extra-body", out.extra_body, "JSON object whose members go into each request", "JSON");
  AddReal(app, "--timeout", out.timeout_s, "Seconds for a request [600]");
  AddReport(app, out.bench);
  AddCount(
      app, "--repeat", 1, 1000, [&out](int64_t n) { out.bench.repeat = n; },
      "Rounds, each of other texts, for medians [1]");
  AddText(app, "--compare", out.compare, "Set beside an earlier JSON report", "FILE");
}

}  // namespace adit::cli
