#include "cli/session.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/run_report.h"
#include "cli/signals.h"
#include "cli/talk_flags.h"
#include "engine/dry_breakers.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "engine/model_sampling.h"
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

// What the flags hold answers to, compiled; null for nothing.
Result<GrammarPtr> CompileConstraint(const RunOptions& options, const engine::LoadedModel& model) {
  GrammarSpec spec;
  const char* flag = "--json";
  if (options.json_schema_file) {
    flag = "--json-schema";
    spec.kind = GrammarKind::kJsonSchema;
    ADIT_ASSIGN_OR_RETURN(spec.text, ReadFileOrStdin(*options.json_schema_file));
  } else if (options.grammar_file) {
    flag = "--grammar";
    spec.kind = GrammarKind::kEbnf;
    ADIT_ASSIGN_OR_RETURN(spec.text, ReadFileOrStdin(*options.grammar_file));
  } else if (options.regex) {
    flag = "--regex";
    spec.kind = GrammarKind::kRegex;
    spec.text = *options.regex;
  } else if (!options.json_object) {
    return GrammarPtr();
  }
  Result<GrammarPtr> grammar = model.grammars().Compile(spec);
  if (grammar.ok()) return grammar;
  return Status(grammar.status().code(), std::string(flag) + ": " + grammar.status().message());
}

sample::SamplingParams SamplingFor(const RunOptions& options, int64_t seed, const tokenizer::Tokenizer& tokenizer) {
  sample::SamplingParams sampling = options.sampling;
  sampling.seed = seed;
  if (sampling.dry_multiplier > 0.0) {
    sampling.dry_sequence_breakers = engine::ResolveDryBreakers(tokenizer, engine::kDefaultDryBreakers);
  }
  // Keeping more tokens than there are keeps them all.
  sampling.top_k = std::min(sampling.top_k, tokenizer.vocab_size());
  return sampling;
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

// A progress bar for the prompt, gone before the first piece of the answer.
class PromptProgress {
 public:
  explicit PromptProgress(size_t num_tokens) : num_tokens_(num_tokens) { bar_.emplace(Stderr(), "Reading"); }

  void Done(int64_t num_tokens) {
    if (bar_) bar_->Update(static_cast<double>(num_tokens) / static_cast<double>(num_tokens_));
  }
  void End() { bar_.reset(); }

 private:
  const size_t num_tokens_;
  std::optional<ProgressBar> bar_;
};

}  // namespace

Session::Session(const RunOptions& options, int64_t seed, std::unique_ptr<engine::LoadedModel> model,
                 std::unique_ptr<engine::EngineCore> engine, Conversation conversation)
    : options_(options),
      sampling_(SamplingFor(options, seed, model->tokenizer())),
      model_(std::move(model)),
      engine_(std::move(engine)),
      conversation_(std::move(conversation)) {}

Result<std::unique_ptr<Session>> Session::Open(const RunOptions& run_options) {
  RunOptions options = run_options;
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  const auto is_given = [&options](std::string_view name) {
    return std::find(options.flags.begin(), options.flags.end(), name) != options.flags.end();
  };
  ADIT_RETURN_IF_ERROR(engine::ApplyModelSampling(model->file().metadata(), is_given, options.sampling));
  ADIT_ASSIGN_OR_RETURN(
      Conversation conversation,
      Conversation::Create(model->tokenizer(),
                           {.chat_template = model->chat_template(), .system = options.system, .raw = options.raw}));
  ADIT_ASSIGN_OR_RETURN(const int64_t context_length, ChooseContext(options, *model));
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  engine::EngineOptions engine_options{.kv_types = kv_types, .kv_tokens = context_length};
  engine_options.scheduler.max_context = context_length;
  engine_options.scheduler.max_num_seqs = 1;
  engine_options.scheduler.max_batch_tokens = std::min(kMaxBatchTokens, context_length);
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::EngineCore> engine, engine::EngineCore::Create(*model, engine_options));
  const int64_t seed = options.seed ? *options.seed : DrawSeed();
  ADIT_ASSIGN_OR_RETURN(GrammarPtr grammar, CompileConstraint(options, *model));
  std::unique_ptr<Session> session(
      new Session(options, seed, std::move(model), std::move(engine), std::move(conversation)));
  session->grammar_ = std::move(grammar);
  return session;
}

// Runs one request to its end. on_token is called with each token of the answer and returns whether to go on; on_prompt
// with how many tokens of the prompt are done.
Result<engine::AnswerStats> Session::Generate(std::vector<int32_t> prompt, const std::function<bool(int32_t)>& on_token,
                                              const std::function<void(int64_t)>& on_prompt) {
  const auto stream = std::make_shared<engine::EventStream>(/*capacity=*/8, [] {});
  engine::GenerationRequest request{.prompt = std::move(prompt),
                                    .sampling = sampling_,
                                    .max_tokens = options_.max_tokens,
                                    .grammar = grammar_,
                                    .ignore_eos = options_.ignore_eos};
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::ActiveRequest> active,
                        engine::ActiveRequest::Create(std::move(request), *model_, engine_->max_context(), stream));
  const int64_t id = ++num_requests_;
  active->id = id;
  engine_->Add(std::move(active), SteadySeconds());
  engine::AnswerStats stats;
  while (true) {
    while (const std::optional<engine::Event> event = stream->TryNext()) {
      switch (event->kind) {
        case engine::Event::Kind::kToken:
          if (!event->ends_answer && !on_token(event->token))
            engine_->End(id, engine::FinishReason::kCancelled, SteadySeconds());
          break;
        case engine::Event::Kind::kFinished:
          stats = *event->stats;
          break;
        case engine::Event::Kind::kError:
          return event->status;
        case engine::Event::Kind::kDone:
          return stats;
        case engine::Event::Kind::kPromptToken:
          break;
      }
    }
    if (PendingInterrupt() != 0) {
      engine_->End(id, engine::FinishReason::kCancelled, SteadySeconds());
      continue;
    }
    engine_->Step(SteadySeconds());
    const sched::StepPlan& plan = *engine_->last_plan();
    if (!plan.rows.empty()) on_prompt(plan.rows.front().first_position + plan.rows.front().num_tokens);
  }
}

Result<engine::FinishReason> Session::Answer(std::string_view text) {
  ADIT_ASSIGN_OR_RETURN(std::vector<int32_t> prompt, conversation_.Prompt(text));
  AnswerStream answer(model_->tokenizer());
  PromptProgress progress(prompt.size());
  const auto on_token = [&](int32_t token) {
    progress.End();
    return answer.Append(token);
  };
  const auto on_prompt = [&](int64_t num_tokens) { progress.Done(num_tokens); };
  ADIT_ASSIGN_OR_RETURN(const engine::AnswerStats stats, Generate(std::move(prompt), on_token, on_prompt));
  progress.End();
  answer.Finish();
  ADIT_RETURN_IF_ERROR(answer.status());
  conversation_.Add(text, answer.text());
  const bool context_full = stats.prompt_tokens + stats.output_tokens >= engine_->max_context();
  if (stats.reason == engine::FinishReason::kLength && context_full) {
    PrintNote("the context of " + std::to_string(engine_->max_context()) + " tokens is full");
  }
  if (options_.verbose) ReportRun(engine_->runner(), sampling_.seed, stats);
  return stats.reason;
}

Result<engine::FinishReason> Session::Retry() {
  const Turn last = conversation_.TakeLast();
  sampling_.seed = static_cast<int64_t>(static_cast<uint64_t>(sampling_.seed) + 1);
  Result<engine::FinishReason> reason = Answer(last.text);
  if (!reason.ok()) conversation_.Add(last.text, last.answer);
  return reason;
}

Status Session::Set(const std::string& name, const std::string& value) {
  RunOptions options = options_;
  options.seed.reset();
  ADIT_RETURN_IF_ERROR(SetTalkFlag(name, value, options));
  const int64_t seed = options.seed.value_or(sampling_.seed);
  sample::SamplingParams sampling = SamplingFor(options, seed, model_->tokenizer());
  ADIT_RETURN_IF_ERROR(sample::Validate(sampling, model_->tokenizer().vocab_size()));
  options_ = std::move(options);
  sampling_ = std::move(sampling);
  return Status();
}

}  // namespace adit::cli
