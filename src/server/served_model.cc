#include "server/served_model.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "engine/memory_fit.h"
#include "engine/model_identity.h"

namespace adit::server {
namespace {

Result<ChatPrompt> MakeChat(const engine::LoadedModel& model, bool generates, const ServedModelOptions& options) {
  if (!generates) return FailedPrecondition("the model makes embeddings and has no chats");
  const std::string_view source = options.chat_template.empty() ? model.chat_template() : options.chat_template;
  if (source.empty()) return FailedPrecondition("the model has no chat template; use /v1/completions");
  return ChatPrompt::Create(source, model.tokenizer());
}

}  // namespace

ServedModel::ServedModel(std::unique_ptr<engine::LoadedModel> model, std::unique_ptr<engine::Engine> engine,
                         std::unique_ptr<engine::EmbeddingEngine> embedder, ServedModelOptions options)
    : options_(std::move(options)),
      created_s_(WholeUnixSeconds()),
      model_(std::move(model)),
      engine_(std::move(engine)),
      embedder_(std::move(embedder)),
      chat_(MakeChat(*model_, generates(), options_)) {
  OutputFormat output = chat_.ok() ? FormatOfTemplate(chat_->source()) : OutputFormat();
  output.tools = options_.tools.value_or(output.tools);
  output.reasoning = options_.reasoning.value_or(output.reasoning);
  api_ = std::make_unique<ApiModel>(
      ApiModel{.tokenizer = model_->tokenizer(),
               .chat = chat_,
               .name = options_.name,
               .fingerprint = engine::Fingerprint(*model_, options_.build),
               .vocab_size = std::min(model_->spec().vocab_size, model_->tokenizer().vocab_size()),
               .max_context = generates() ? engine_->max_context() : model_->spec().context_length,
               .sampling = options_.sampling,
               .default_max_tokens = std::nullopt,
               .limits = options_.limits,
               .fim = FindFimFormat(model_->tokenizer()),
               .output = output,
               .streams = true});
}

ServedModel::~ServedModel() = default;

std::unique_ptr<ServedModel> ServedModel::Create(std::unique_ptr<engine::LoadedModel> model,
                                                 std::unique_ptr<engine::Engine> engine, ServedModelOptions options) {
  return std::unique_ptr<ServedModel>(
      new ServedModel(std::move(model), std::move(engine), /*embedder=*/nullptr, std::move(options)));
}

std::unique_ptr<ServedModel> ServedModel::Create(std::unique_ptr<engine::LoadedModel> model,
                                                 std::unique_ptr<engine::EmbeddingEngine> embedder,
                                                 ServedModelOptions options) {
  return std::unique_ptr<ServedModel>(
      new ServedModel(std::move(model), /*engine=*/nullptr, std::move(embedder), std::move(options)));
}

int64_t ServedModel::memory_bytes() const {
  size_t bytes = engine::WeightBytes(*model_);
  if (generates()) {
    const engine::ModelRunner& runner = engine_->runner();
    bytes += static_cast<size_t>(runner.kv_capacity_tokens()) * runner.kv_bytes_per_token() + runner.scratch_bytes();
  }
  return static_cast<int64_t>(bytes);
}

bool ServedModel::Answers(const std::string& name) const {
  return name == options_.name ||
         std::find(options_.aliases.begin(), options_.aliases.end(), name) != options_.aliases.end();
}

int32_t ServedModel::TenantIndex(const std::string& name) const {
  const auto found = std::find(options_.tenants.begin(), options_.tenants.end(), name);
  return found == options_.tenants.end() ? 0 : static_cast<int32_t>(found - options_.tenants.begin());
}

}  // namespace adit::server
