#include "cli/session.h"

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/run_report.h"
#include "cli/signals.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "sample/sampling_params.h"
#include "tokenizer/detokenizer.h"

namespace adit::cli {
namespace {

// Rows of one pass of a prompt: enough that weights are read seldom, and little scratch memory.
constexpr int64_t kMaxBatchTokens = 512;

// A seed that is easily typed again.
int64_t DrawSeed() { return static_cast<int64_t>(std::random_device()()); }

Result<int64_t> ChooseContext(const RunOptions& options, const engine::LoadedModel& model) {
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  const engine::ContextFit fit{.model_tokens = model.spec().context_length,
                               .bytes_per_token = engine::KvBytesPerToken(model, kv_types),
                               .available_bytes = engine::AvailableMemoryBytes()};
  if (!options.context_length) return engine::DefaultContext(fit);
  const Status status = engine::CheckContext(*options.context_length, fit);
  if (!status.ok()) return Status(status.code(), "--ctx: " + status.message());
  return *options.context_length;
}

// Writes the answer piece by piece, whole characters only.
class AnswerStream {
 public:
  explicit AnswerStream(const tokenizer::Tokenizer& tokenizer) : detokenizer_(tokenizer, /*with_special=*/false) {}

  // False when nothing more can be written.
  bool Append(int32_t id) { return Emit(detokenizer_.Append(id)); }
  void Finish() {
    Emit(detokenizer_.Finish());
    if (status_.ok() && !text_.ends_with('\n')) status_ = Stdout().Write("\n");
  }
  const std::string& text() const { return text_; }
  const Status& status() const { return status_; }

 private:
  bool Emit(const std::string& piece) {
    text_ += piece;
    if (status_.ok() && !piece.empty()) status_ = Stdout().WriteText(piece);
    return status_.ok();
  }

  tokenizer::IncrementalDetokenizer detokenizer_;
  std::string text_;
  Status status_;
};

// A progress bar for the prompt, told of each pass before it runs, and gone before the first piece of the answer.
class PromptProgress {
 public:
  // Tokens to compute, and how many of them one pass takes.
  PromptProgress(int64_t num_tokens, int64_t tokens_per_pass)
      : num_tokens_(std::max<int64_t>(num_tokens, 1)), tokens_per_pass_(tokens_per_pass) {
    bar_.emplace(Stderr(), "Reading");
  }

  void Pass() {
    if (!bar_) return;
    bar_->Update(static_cast<double>(num_done_) / static_cast<double>(num_tokens_));
    num_done_ += tokens_per_pass_;
  }
  void End() { bar_.reset(); }

 private:
  const int64_t num_tokens_;
  const int64_t tokens_per_pass_;
  int64_t num_done_ = 0;
  std::optional<ProgressBar> bar_;
};

// How many tokens both begin with.
int64_t SharedTokens(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

Session::Session(const RunOptions& options, int64_t seed, int64_t context_length,
                 std::unique_ptr<engine::LoadedModel> model, std::unique_ptr<engine::ModelRunner> runner,
                 Conversation conversation)
    : options_(options),
      generate_{.sampling = options.sampling,
                .max_tokens = options.max_tokens,
                .context_length = context_length,
                .ignore_eos = options.ignore_eos},
      model_(std::move(model)),
      runner_(std::move(runner)),
      generator_(*runner_),
      conversation_(std::move(conversation)) {
  generate_.sampling.seed = seed;
  // Keeping more tokens than there are keeps them all.
  generate_.sampling.top_k = std::min(generate_.sampling.top_k, model_->spec().vocab_size);
}

Result<std::unique_ptr<Session>> Session::Open(const RunOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  ADIT_ASSIGN_OR_RETURN(
      Conversation conversation,
      Conversation::Create(model->tokenizer(),
                           {.chat_template = model->chat_template(), .system = options.system, .raw = options.raw}));
  ADIT_ASSIGN_OR_RETURN(const int64_t context_length, ChooseContext(options, *model));
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(
      std::unique_ptr<engine::ModelRunner> runner,
      engine::ModelRunner::Create(*model, {.kv_types = kv_types,
                                           .kv_tokens = context_length,
                                           .max_batch_tokens = std::min(kMaxBatchTokens, context_length)}));
  const int64_t seed = options.seed ? *options.seed : DrawSeed();
  return std::unique_ptr<Session>(
      new Session(options, seed, context_length, std::move(model), std::move(runner), std::move(conversation)));
}

Result<engine::FinishReason> Session::Answer(std::string_view text) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt, conversation_.Prompt(text));
  AnswerStream answer(model_->tokenizer());
  PromptProgress progress(static_cast<int64_t>(prompt.size()) - SharedTokens(prompt, generator_.tokens()),
                          runner_->max_batch_tokens());
  const auto on_token = [&](const sample::SampledToken& token) {
    progress.End();
    return answer.Append(token.id);
  };
  const auto cancelled = [&] {
    progress.Pass();
    return PendingInterrupt() != 0;
  };
  ADIT_ASSIGN_OR_RETURN(const engine::GenerateStats stats, generator_.Generate(prompt, generate_, on_token, cancelled));
  progress.End();
  answer.Finish();
  ADIT_RETURN_IF_ERROR(answer.status());
  conversation_.Add(text, answer.text());
  const bool context_full = stats.prompt_tokens + stats.generated_tokens >= generate_.context_length;
  if (stats.reason == engine::FinishReason::kLength && context_full) {
    PrintNote("the context of " + std::to_string(generate_.context_length) + " tokens is full");
  }
  if (options_.verbose) ReportRun(*runner_, generate_, stats);
  return stats.reason;
}

}  // namespace adit::cli
