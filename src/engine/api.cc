// The public interface, include/adit/engine.h, on the engine of this folder.
#include <algorithm>
#include <utility>

#include "adit/engine.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "engine/model_sampling.h"
#include "engine/weight_choice.h"
#include "tokenizer/detokenizer.h"

namespace adit {
namespace {

Result<sched::SchedulerOptions> SchedulerOptionsOf(const EngineOptions& options) {
  sched::SchedulerOptions scheduler;
  ADIT_ASSIGN_OR_RETURN(scheduler.policy, sched::ParsePolicy(options.policy));
  scheduler.prefix_cache = options.prefix_cache;
  scheduler.max_context = options.context_length;
  scheduler.max_batch_tokens = options.max_batch_tokens;
  scheduler.max_num_seqs = options.max_num_seqs;
  scheduler.itl_target_s = options.itl_target_ms * 1e-3;
  scheduler.max_queued_requests = options.max_queued_requests;
  scheduler.max_queued_tokens = options.max_queued_tokens;
  scheduler.tenants.clear();
  for (const TenantOptions& tenant : options.tenants) {
    scheduler.tenants.push_back({.name = tenant.name, .weight = tenant.weight});
  }
  return scheduler;
}

Result<int64_t> KvTokensOf(const EngineOptions& options, const engine::LoadedModel& model,
                           const engine::KvTypes& kv_types) {
  if (options.kv_tokens < 0) return InvalidArgument("kv_tokens is {}; it is at least 0", options.kv_tokens);
  if (options.kv_tokens > 0) return options.kv_tokens;
  const int64_t model_context = model.spec().context_length;
  const int64_t context = options.context_length > 0 ? std::min(options.context_length, model_context) : model_context;
  ADIT_ASSIGN_OR_RETURN(const int64_t budget, engine::ParseMemoryBudget(options.memory, engine::MachineMemoryBytes()));
  return engine::KvTokensWithin({.budget_bytes = budget,
                                 .used_bytes = engine::ResidentBytes(),
                                 .bytes_per_token = engine::KvBytesPerToken(model, kv_types),
                                 .most_tokens = context * std::max<int64_t>(1, options.max_num_seqs)});
}

}  // namespace

class RequestStream::Impl {
 public:
  explicit Impl(engine::RequestHandle request) : handle(std::move(request)) {}
  engine::RequestHandle handle;
};

RequestStream::RequestStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RequestStream::RequestStream(RequestStream&&) noexcept = default;
RequestStream& RequestStream::operator=(RequestStream&&) noexcept = default;
RequestStream::~RequestStream() = default;

std::optional<Event> RequestStream::Next() { return impl_->handle.Next(); }
std::optional<Event> RequestStream::TryNext() { return impl_->handle.TryNext(); }
void RequestStream::Cancel() { impl_->handle.Cancel(); }

class Engine::Impl {
 public:
  std::unique_ptr<engine::LoadedModel> model;
  std::unique_ptr<engine::Engine> engine;
  SamplingParams recommended_sampling;
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::Open(const EngineOptions& options) {
  auto impl = std::make_unique<Impl>();
  engine::EngineOptions inner;
  ADIT_ASSIGN_OR_RETURN(inner.scheduler, SchedulerOptionsOf(options));
  ADIT_ASSIGN_OR_RETURN(inner.kv_types, engine::ParseKvTypes(options.kv_type));
  ADIT_ASSIGN_OR_RETURN(
      const std::optional<formats::WeightTypes> weight_types,
      engine::WeightTypesFor(options.dtype,
                             options.quantization.empty() ? std::nullopt : std::optional(options.quantization)));
  ADIT_ASSIGN_OR_RETURN(impl->model, engine::LoadedModel::Load({.path = options.model_path,
                                                                .isa = options.isa,
                                                                .num_threads = options.num_threads,
                                                                .bind_threads = options.bind_threads,
                                                                .activation_terms = std::nullopt,
                                                                .weight_types = weight_types,
                                                                .progress = options.progress}));
  ADIT_RETURN_IF_ERROR(engine::ApplyModelSampling(
      impl->model->file().metadata(), [](std::string_view) { return false; }, impl->recommended_sampling));
  ADIT_ASSIGN_OR_RETURN(inner.kv_tokens, KvTokensOf(options, *impl->model, inner.kv_types));
  ADIT_ASSIGN_OR_RETURN(impl->engine, engine::Engine::Create(*impl->model, inner));
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

Result<std::vector<int32_t>> Engine::Tokenize(std::string_view text, bool parse_special) const {
  return impl_->model->tokenizer().Encode(text, parse_special, true);
}

std::string Engine::Detokenize(const std::vector<int32_t>& tokens) const {
  tokenizer::IncrementalDetokenizer detokenizer(impl_->model->tokenizer(), false);
  std::string text;
  for (const int32_t token : tokens) text += detokenizer.Append(token);
  return text + detokenizer.Finish();
}

Result<RequestStream> Engine::Start(GenerationRequest request, std::function<void()> on_ready) {
  ADIT_ASSIGN_OR_RETURN(engine::RequestHandle handle, impl_->engine->Submit(std::move(request), std::move(on_ready)));
  return RequestStream(std::make_unique<RequestStream::Impl>(std::move(handle)));
}

namespace {

Result<Completion> Collect(const Engine& engine, Result<RequestStream> stream) {
  if (!stream.ok()) return stream.status();
  Completion completion;
  const auto answer = [&completion](int32_t index) -> Answer& {
    const auto at = static_cast<size_t>(index);
    if (completion.answers.size() <= at) completion.answers.resize(at + 1);
    return completion.answers[at];
  };
  while (const std::optional<Event> event = stream->Next()) {
    switch (event->kind) {
      case Event::Kind::kToken:
        if (event->ends_answer) break;
        answer(event->answer).tokens.push_back(event->token);
        answer(event->answer).logprobs.push_back(event->logprob);
        break;
      case Event::Kind::kPromptToken:
        completion.prompt_logprobs.push_back(event->logprob);
        break;
      case Event::Kind::kFinished:
        answer(event->answer).stats = *event->stats;
        break;
      case Event::Kind::kError:
        return event->status;
      case Event::Kind::kDone:
        break;
    }
  }
  for (Answer& each : completion.answers) each.text = engine.Detokenize(each.tokens);
  return completion;
}

}  // namespace

Result<Completion> Engine::Generate(GenerationRequest request) { return Collect(*this, Start(std::move(request))); }

std::vector<Result<Completion>> Engine::GenerateBatch(std::vector<GenerationRequest> requests) {
  std::vector<Result<RequestStream>> streams;
  for (GenerationRequest& request : requests) streams.push_back(Start(std::move(request)));
  std::vector<Result<Completion>> completions;
  for (Result<RequestStream>& stream : streams) completions.push_back(Collect(*this, std::move(stream)));
  return completions;
}

Result<GrammarPtr> Engine::CompileGrammar(const GrammarSpec& spec) { return impl_->model->grammars().Compile(spec); }

EngineInfo Engine::Info() const {
  const engine::EngineStats stats = impl_->engine->stats();
  const engine::LoadedModel& model = *impl_->model;
  const int64_t held = stats.pages.num_pages - stats.pages.num_free - stats.pages.num_cached;
  return {.architecture = model.spec().architecture,
          .kernel_set = model.kernels().name,
          .num_threads = model.num_threads(),
          .vocab_size = model.tokenizer().vocab_size(),
          .max_context = impl_->engine->max_context(),
          .kv_tokens = impl_->engine->runner().kv_capacity_tokens(),
          .num_running = stats.num_running,
          .num_waiting = stats.num_waiting,
          .prompt_tokens = stats.scheduler.prompt_tokens,
          .output_tokens = stats.scheduler.output_tokens,
          .cache_hit_tokens = stats.prefix_cache.hit_tokens + stats.prefix_cache.partial_tokens,
          .preemptions = stats.scheduler.preemptions,
          .kv_usage = static_cast<double>(held) / static_cast<double>(std::max<int64_t>(1, stats.pages.num_pages))};
}

const SamplingParams& Engine::RecommendedSampling() const { return impl_->recommended_sampling; }

bool Engine::Drain(double timeout_s) { return impl_->engine->Drain(timeout_s); }

}  // namespace adit
