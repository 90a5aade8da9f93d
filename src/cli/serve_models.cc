// What adit serve makes models of.
#include "cli/serve_models.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "cli/model_file.h"
#include "cli/printable.h"
#include "cli/resolve_model.h"
#include "cli/revision.h"
#include "engine/embedding_engine.h"
#include "engine/engine.h"
#include "engine/memory_fit.h"
#include "engine/model_sampling.h"
#include "engine/pooling.h"
#include "hub/pull.h"
#include "server/default_sampling.h"
#include "server/served_model.h"

namespace adit::cli {
namespace {

using server::ModelEntry;
using server::ServedModel;

// Tokens of the cache: as many as budget_bytes leave beside the weights, or 0: the process's own budget.
Result<int64_t> KvTokensOf(const ServeOptions& options, int64_t budget_bytes, const engine::LoadedModel& model,
                           const engine::KvTypes& types) {
  const int64_t own = model.spec().context_length;
  const int64_t context = std::min(options.context_length.value_or(own), own);
  if (options.kv_tokens) return ChosenKvTokens(options.kv_tokens, context, model, types);
  if (budget_bytes > 0) {
    return engine::KvTokensWithin({.budget_bytes = budget_bytes,
                                   .used_bytes = static_cast<int64_t>(engine::WeightBytes(model)),
                                   .bytes_per_token = engine::KvBytesPerToken(model, types),
                                   .most_tokens = context * options.scheduler.max_num_seqs});
  }
  return KvTokensWithinMemory(options.memory, context * options.scheduler.max_num_seqs, model, types);
}

// Whether the model is to make embeddings: as the flag says, or as the model can do nothing else, or as its file says
// how they are pooled, which is told of no other model.
bool IsForEmbeddings(const ServeOptions& options, const engine::LoadedModel& model) {
  if (options.task != "auto") return options.task == "embed";
  return !model.spec().output.logits || model.spec().NeedsWholeSequences() || engine::TellsPooling(model.file());
}

Result<std::unique_ptr<engine::EmbeddingEngine>> StartEmbedder(const ServeOptions& options,
                                                               const engine::LoadedModel& model) {
  engine::EmbeddingEngineOptions wanted{.max_queued_requests = options.scheduler.max_queued_requests};
  ADIT_ASSIGN_OR_RETURN(wanted.embedder.pooling,
                        options.pooling ? engine::ParsePooling(*options.pooling) : engine::PoolingOf(model.file()));
  // One for each token is what a request may ask for; who does not say wants one.
  if (wanted.embedder.pooling == engine::Pooling::kNone) wanted.embedder.pooling = engine::Pooling::kMean;
  // So do classifiers, of which embeddings may be asked too.
  if (wanted.embedder.pooling == engine::Pooling::kRank) wanted.embedder.pooling = engine::Pooling::kCls;
  wanted.embedder.normalize = true;
  ADIT_ASSIGN_OR_RETURN(wanted.embedder.kv_types, ChosenKvTypes(options.engine));
  wanted.embedder.max_batch_tokens = options.scheduler.max_batch_tokens;
  return engine::EmbeddingEngine::Create(model, wanted);
}

// What requests get that do not say how to sample: OpenAI's defaults, the model's over them, the flag's over these.
Result<SamplingParams> SamplingOf(const ServeOptions& options, const engine::LoadedModel& model) {
  SamplingParams params;
  if (options.model_sampling) {
    const auto none_set = [](std::string_view) { return false; };
    ADIT_RETURN_IF_ERROR(engine::ApplyModelSampling(model.file().metadata(), none_set, params));
  }
  ADIT_RETURN_IF_ERROR(server::ApplyDefaultSampling(options.default_sampling, params));
  return params;
}

Result<std::unique_ptr<engine::Engine>> StartEngine(const ServeOptions& options, std::vector<sched::Tenant> tenants,
                                                    int64_t budget_bytes, const engine::LoadedModel& model) {
  engine::EngineOptions wanted;
  wanted.scheduler = options.scheduler;
  if (tenants.size() > 1 && options.scheduler.policy == sched::Policy::kFcfs) {
    wanted.scheduler.policy = sched::Policy::kFair;
  }
  wanted.scheduler.max_context = options.context_length.value_or(0);
  ADIT_ASSIGN_OR_RETURN(wanted.kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(wanted.kv_tokens, KvTokensOf(options, budget_bytes, model, wanted.kv_types));
  wanted.scheduler.tenants = std::move(tenants);
  return engine::Engine::Create(model, wanted);
}

Result<server::ServedModelOptions> OfferOf(const ServeOptions& options, const ModelEntry& entry,
                                           const std::vector<sched::Tenant>& tenants) {
  server::ServedModelOptions served{.name = entry.name, .aliases = entry.aliases, .build = BuildName()};
  if (options.tool_parser != "auto") {
    ADIT_ASSIGN_OR_RETURN(served.tools, server::ParseToolSyntax(options.tool_parser));
  }
  if (options.reasoning_parser != "auto") {
    ADIT_ASSIGN_OR_RETURN(served.reasoning, server::ParseReasoningSyntax(options.reasoning_parser));
  }
  served.limits = {.max_answers = options.max_answers,
                   .max_stops = static_cast<size_t>(options.max_stops),
                   .max_top_logprobs = options.max_logprobs,
                   .max_output_tokens = options.max_output_tokens.value_or(-1)};
  for (const sched::Tenant& tenant : tenants) served.tenants.push_back(tenant.name);
  return served;
}

// What the log says of a model that is there.
std::string Describe(const ServedModel& served) {
  const std::string what =
      served.generates()
          ? fmt::format("context {}, cache {} tokens", served.api().max_context,
                        served.engine().runner().kv_capacity_tokens())
          : fmt::format("embeddings of {} numbers, pooling {}, context {}", served.model().spec().hidden_dim,
                        engine::PoolingName(served.embedder().options().pooling), served.api().max_context);
  return fmt::format("ready: {}, {}, {} threads, {} kernels", served.name(), what, served.model().num_threads(),
                     served.model().kernels().name);
}

// Loads models as the flags say, from files and from the store of models.
class FlaggedSource : public server::ModelSource {
 public:
  FlaggedSource(const ServeOptions& options, std::string chat_template, std::vector<sched::Tenant> tenants,
                server::AccessLog& log)
      : options_(options), chat_template_(std::move(chat_template)), tenants_(std::move(tenants)), log_(log) {}

  Result<server::ModelNeed> NeedOf(const ModelEntry& entry) override {
    server::ModelNeed need;
    ADIT_ASSIGN_OR_RETURN(need.weight_bytes, WeightBytesOf(entry.source, options_.engine));
    if (!options_.kv_tokens || options_.task == "embed") return need;
    ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, OpenModel(entry.source));
    ADIT_ASSIGN_OR_RETURN(const engine::KvTypes types, ChosenKvTypes(options_.engine));
    const Result<size_t> bytes = engine::KvBytesPerToken(*file, ChosenIsa(options_.engine), types);
    if (!bytes.ok()) return InsideModel(bytes.status());
    need.cache_bytes = *options_.kv_tokens * static_cast<int64_t>(*bytes);
    return need;
  }

  Result<std::unique_ptr<ServedModel>> Load(const ModelEntry& entry, int64_t budget_bytes,
                                            const std::function<Status(double share)>& on_progress) override {
    Result<std::unique_ptr<ServedModel>> served = LoadServed(entry, budget_bytes, on_progress);
    log_.Note(served.ok() ? Describe(**served)
                          : fmt::format("{} cannot be loaded: {}", entry.name, OneLine(served.status().message())));
    return served;
  }

  // The store's alone: what clients say never leads to another place.
  Result<std::string> Find(const std::string& name) override {
    ADIT_ASSIGN_OR_RETURN(const hub::ModelStore store, hub::ModelStore::OfUser());
    return store.Resolve(name);
  }

  Status Fetch(const std::string& name, const std::function<void(const server::FetchProgress&)>& on_progress,
               const std::atomic<bool>& cancel) override {
    if (options_.offline) return FailedPrecondition("the server fetches no models: it was started with --offline");
    ADIT_ASSIGN_OR_RETURN(const hub::ModelRef ref, hub::ParseModelRef(name));
    ADIT_ASSIGN_OR_RETURN(const hub::ModelStore store, hub::ModelStore::OfUser());
    ADIT_ASSIGN_OR_RETURN(const hub::HubClient hub, hub::HubOfUser(&cancel));
    return hub::Pull(hub, store, ref, {},
                     [&](const hub::PullProgress& progress) {
                       on_progress({.done_bytes = progress.done_bytes, .total_bytes = progress.total_bytes});
                     })
        .status();
  }

 private:
  Result<std::unique_ptr<ServedModel>> LoadServed(const ModelEntry& entry, int64_t budget_bytes,
                                                  const std::function<Status(double share)>& on_progress) const {
    ADIT_ASSIGN_OR_RETURN(server::ServedModelOptions served, OfferOf(options_, entry, tenants_));
    served.chat_template = chat_template_;
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::LoadedModel> model,
                          LoadModel(entry.source, options_.engine, on_progress));
    if (IsForEmbeddings(options_, *model)) {
      ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::EmbeddingEngine> embedder, StartEmbedder(options_, *model));
      return ServedModel::Create(std::move(model), std::move(embedder), std::move(served));
    }
    ADIT_ASSIGN_OR_RETURN(served.sampling, SamplingOf(options_, *model));
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::Engine> engine,
                          StartEngine(options_, tenants_, budget_bytes, *model));
    auto ready = ServedModel::Create(std::move(model), std::move(engine), std::move(served));
    if (!ready->api().chat.ok()) PrintNote("chat requests cannot be answered: " + ready->api().chat.status().message());
    return ready;
  }

  const ServeOptions& options_;
  const std::string chat_template_;
  const std::vector<sched::Tenant> tenants_;
  server::AccessLog& log_;
};

// What clients call a model by when nobody says: the file's name without its ending, or the name in the store.
std::string OwnName(const std::string& text, const std::string& path) {
  return text == path ? std::filesystem::path(path).stem().string() : text;
}

// The entry that a flag names: as MODEL was written, or by a name that clients have for it.
ModelEntry* FindEntry(ServedEntries& served, const std::string& name) {
  for (size_t i = 0; i < served.entries.size(); ++i) {
    ModelEntry& entry = served.entries[i];
    const bool is_alias = std::find(entry.aliases.begin(), entry.aliases.end(), name) != entry.aliases.end();
    if (name == entry.name || name == served.texts[i] || is_alias) return &entry;
  }
  return nullptr;
}

// Names that the flag --alias gives.
Status AddNames(const std::vector<std::string>& names, ServedEntries& served) {
  const bool is_single = served.entries.size() == 1;
  bool is_named = false;
  for (const std::string& name : names) {
    const size_t equals = name.find('=');
    if (equals == std::string::npos) {
      if (!is_single) return InvalidArgument("--alias: '{}': of several models, NAME=MODEL tells which", OneLine(name));
      // The first is what the model is called, in place of the file's name.
      if (is_named) served.entries.front().aliases.push_back(name);
      if (!is_named) served.entries.front().name = name;
      is_named = true;
      continue;
    }
    ModelEntry* const entry = FindEntry(served, name.substr(equals + 1));
    if (entry == nullptr) return InvalidArgument("--alias: '{}': there is no such MODEL", OneLine(name));
    entry->aliases.push_back(name.substr(0, equals));
  }
  return Status();
}

Status CheckNames(const std::vector<ModelEntry>& entries) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : entries) {
    names.push_back(entry.name);
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return InvalidArgument("serve: two models are called '{}'; --alias NAME=MODEL names them", *twice);
  return Status();
}

}  // namespace

Result<ServedEntries> EntriesOf(const ServeOptions& options) {
  ServedEntries served;
  for (const std::string& text : options.models) {
    ADIT_ASSIGN_OR_RETURN(const std::string path, ResolveModel(text));
    ADIT_RETURN_IF_ERROR(CheckModelPath(path));
    served.entries.push_back({.name = OwnName(text, path), .aliases = {}, .source = path});
    served.texts.push_back(text);
  }
  ADIT_RETURN_IF_ERROR(AddNames(options.names, served));
  ADIT_RETURN_IF_ERROR(CheckNames(served.entries));
  const bool is_single = served.entries.size() == 1;
  if (!is_single && !options.chat_template_file.empty()) {
    return InvalidArgument("--chat-template: goes with one MODEL alone");
  }
  const bool all = std::find(options.preload.begin(), options.preload.end(), "all") != options.preload.end();
  for (const auto* names : {&options.preload, &options.pins}) {
    for (const std::string& name : *names) {
      ModelEntry* const entry = FindEntry(served, name);
      const char* flag = names == &options.pins ? "--pin" : "--preload";
      if (entry == nullptr && (names == &options.pins || name != "all")) {
        return InvalidArgument("{}: '{}' is none of the models", flag, OneLine(name));
      }
      if (entry == nullptr) continue;
      if (names == &options.pins) entry->pinned = true;
      entry->at_start = true;
    }
  }
  if (all || is_single) {
    for (ModelEntry& entry : served.entries) entry.at_start = true;
  }
  return served;
}

std::unique_ptr<server::ModelSource> MakeModelSource(const ServeOptions& options, std::string chat_template,
                                                     std::vector<sched::Tenant> tenants, server::AccessLog& log) {
  return std::make_unique<FlaggedSource>(options, std::move(chat_template), std::move(tenants), log);
}

}  // namespace adit::cli
