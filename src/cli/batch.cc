// adit batch.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "cli/batch_files.h"
#include "cli/batch_run.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "cli/model_file.h"
#include "cli/printable.h"
#include "cli/revision.h"
#include "cli/signals.h"
#include "engine/engine.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "engine/model_identity.h"
#include "server/api_request.h"
#include "server/chat_prompt.h"

namespace adit::cli {
namespace {

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

Status CheckPaths(const BatchOptions& options) {
  for (const std::string* other : {&options.input, &options.model}) {
    if (IsSameFile(options.output, *other)) {
      return InvalidArgument("OUT: '{}' and '{}' are the same file", OneLine(options.output), OneLine(*other));
    }
  }
  return Status();
}

Result<engine::EngineOptions> ChooseEngine(const BatchOptions& options, const engine::LoadedModel& model) {
  engine::EngineOptions engine;
  engine.scheduler = options.scheduler;
  ADIT_ASSIGN_OR_RETURN(engine.kv_types, ChosenKvTypes(options.engine));
  if (options.context_length) {
    const engine::ContextFit fit{.model_tokens = model.spec().context_length,
                                 .bytes_per_token = engine::KvBytesPerToken(model, engine.kv_types),
                                 .available_bytes = engine::AvailableMemoryBytes()};
    const Status status = engine::CheckContext(*options.context_length, fit);
    if (!status.ok()) return Status(status.code(), "--ctx: " + status.message());
    engine.scheduler.max_context = *options.context_length;
  }
  const int64_t context = options.context_length.value_or(model.spec().context_length);
  const int64_t usual = std::max(context, options.scheduler.max_num_seqs * std::min(context, kKvTokensPerSequence));
  if (options.memory) {
    const int64_t most = context * options.scheduler.max_num_seqs;
    ADIT_ASSIGN_OR_RETURN(engine.kv_tokens, KvTokensWithinMemory(*options.memory, most, model, engine.kv_types));
    return engine;
  }
  ADIT_ASSIGN_OR_RETURN(engine.kv_tokens, ChosenKvTokens(options.kv_tokens, usual, model, engine.kv_types));
  return engine;
}

void Report(const server::BatchSummary& summary) {
  const auto rate = [](int64_t count, double of) { return of > 0 ? static_cast<double>(count) / of : 0.0; };
  PrintNote(
      fmt::format("{} requests, {} failed; {} prompt tokens, {:.1f} % from the cache; {} output tokens in {:.1f} s, "
                  "{:.1f} tok/s",
                  summary.num_done, summary.num_failed, summary.prompt_tokens,
                  100.0 * rate(summary.cached_tokens, static_cast<double>(summary.prompt_tokens)),
                  summary.output_tokens, summary.seconds, rate(summary.output_tokens, summary.seconds)));
}

}  // namespace

Result<int> Run(const BatchOptions& options) {
  ADIT_RETURN_IF_ERROR(CheckModelPath(options.model));
  ADIT_RETURN_IF_ERROR(CheckPaths(options));
  ADIT_ASSIGN_OR_RETURN(BatchInput input, BatchInput::Open(options.input));
  ADIT_ASSIGN_OR_RETURN(BatchOutput output, BatchOutput::Open(options.output, options.overwrite));
  ADIT_ASSIGN_OR_RETURN(const int64_t num_new, input.CountNew(output.answered()));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  ADIT_ASSIGN_OR_RETURN(engine::EngineOptions engine_options, ChooseEngine(options, *model));
  const auto max_live = static_cast<size_t>(2 * options.scheduler.max_num_seqs);
  engine_options.max_inbox = std::max(engine_options.max_inbox, max_live);
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::Engine> engine, engine::Engine::Create(*model, engine_options));
  const Result<server::ChatPrompt> chat =
      model->chat_template().empty()
          ? Result<server::ChatPrompt>(FailedPrecondition("the model has no chat template; use /v1/completions"))
          : server::ChatPrompt::Create(model->chat_template(), model->tokenizer());
  const server::ApiModel api_model{.tokenizer = model->tokenizer(),
                                   .chat = chat,
                                   .name = std::filesystem::path(options.model).stem().string(),
                                   .fingerprint = engine::Fingerprint(*model, BuildName()),
                                   .vocab_size = std::min(model->spec().vocab_size, model->tokenizer().vocab_size()),
                                   .max_context = engine->max_context(),
                                   .default_max_tokens = options.max_tokens};
  if (!output.answered().custom_ids.empty() || !output.answered().lines.empty()) {
    PrintNote(fmt::format("{} results are there already, {} requests to go",
                          output.answered().custom_ids.size() + output.answered().lines.size(), num_new));
  }
  ADIT_RETURN_IF_ERROR(output.Begin());
  const InterruptScope interrupts({SIGINT, SIGTERM});
  ADIT_ASSIGN_OR_RETURN(const server::BatchSummary summary,
                        RunBatchFiles(*engine, api_model, input, output, max_live, num_new));
  Report(summary);
  if (!summary.interrupted) return kExitOk;
  PrintNote("stopped; the same command goes on from here");
  return kExitSignalBase + PendingInterrupt();
}

}  // namespace adit::cli
