// Flags of adit batch.
#include <cstdint>
#include <limits>

#include "cli/command_flags.h"

namespace adit::cli {

void AddBatch(CLI::App& app, BatchOptions& out) {
  constexpr int64_t kMax = 1 << 30;
  sched::SchedulerOptions& scheduler = out.scheduler;
  AddRequired(app, "IN", out.input, "File of requests, a JSON object on each line");
  AddRequired(app, "OUT", out.output, "File for the results; what it holds already is not done again");
  AddModel(app, out.model);
  AddSwitch(app, "--overwrite", out.overwrite, "Start anew: let go what OUT holds");
  AddCount(
      app, "--ctx", 1, std::numeric_limits<int64_t>::max(), [&out](int64_t n) { out.context_length = n; },
      "Context of a request in tokens, prompt and answer [the model's]");
  AddCount(
      app, "-n,--max-tokens", 0, kMax, [&out](int64_t n) { out.max_tokens = n; },
      "Most tokens of answers to requests that do not say [chats: the context's; completions: 16]");
  AddCount(
      app, "--max-num-seqs", 1, kMax, [&](int64_t n) { scheduler.max_num_seqs = n; }, "Sequences at once [64]");
  AddCount(
      app, "--max-num-batched-tokens", 1, kMax, [&](int64_t n) { scheduler.max_batch_tokens = n; },
      "Tokens of a step [512]");
  CLI::Option* tokens = AddCount(
      app, "--kv-tokens", 1, kMax, [&out](int64_t n) { out.kv_tokens = n; },
      "Tokens that the cache holds [2048 for each sequence, if they fit]");
  Exclude(tokens,
          AddText(app, "--memory", out.memory,
                  "Size the cache by what the process may come to use: 24G, or a share of the machine", "SIZE"));
  AddParsed(app, "--scheduling-policy", &sched::ParsePolicy, scheduler.policy,
            "fcfs, priority, sjf, lpm, fair or deadline [fcfs]", "NAME");
  AddEngine(app, out.engine);
}

}  // namespace adit::cli
