#ifndef ADIT_SERVER_SERVED_MODEL_H_
#define ADIT_SERVER_SERVED_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adit/sampling_params.h"
#include "adit/status.h"
#include "engine/embedding_engine.h"
#include "engine/engine.h"
#include "server/api_request.h"

namespace adit::server {

// How a model is offered.
struct ServedModelOptions {
  std::string name;                  // for clients
  std::vector<std::string> aliases;  // that it answers to as well
  std::optional<ToolSyntax> tools;   // unset: as its template tells
  std::optional<ReasoningSyntax> reasoning;
  ApiLimits limits;
  SamplingParams sampling;           // of requests that do not say
  std::string chat_template;         // instead of the file's; empty: the file's
  std::vector<std::string> tenants;  // the engine's, in its order
  std::string build = {};            // for engine::Fingerprint
};

// A loaded model with its engine, of one kind or the other, and all that requests are read against. Immutable; any
// thread.
class ServedModel {
 public:
  // Takes both over.
  static std::unique_ptr<ServedModel> Create(std::unique_ptr<engine::LoadedModel> model,
                                             std::unique_ptr<engine::Engine> engine, ServedModelOptions options);
  // The same for a model that makes embeddings and generates nothing.
  static std::unique_ptr<ServedModel> Create(std::unique_ptr<engine::LoadedModel> model,
                                             std::unique_ptr<engine::EmbeddingEngine> embedder,
                                             ServedModelOptions options);
  ~ServedModel();

  bool generates() const { return engine_ != nullptr; }
  // Precondition: generates().
  engine::Engine& engine() const { return *engine_; }
  // Precondition: !generates().
  engine::EmbeddingEngine& embedder() const { return *embedder_; }
  const engine::LoadedModel& model() const { return *model_; }
  const ApiModel& api() const { return *api_; }
  const std::string& name() const { return options_.name; }
  const std::vector<std::string>& aliases() const { return options_.aliases; }
  int64_t created_s() const { return created_s_; }
  // Bytes of weights, cache and scratch, when all of the cache is used.
  int64_t memory_bytes() const;
  bool Answers(const std::string& name) const;
  // The engine's index of a tenant; that of the first for one it does not know.
  int32_t TenantIndex(const std::string& name) const;

 private:
  ServedModel(std::unique_ptr<engine::LoadedModel> model, std::unique_ptr<engine::Engine> engine,
              std::unique_ptr<engine::EmbeddingEngine> embedder, ServedModelOptions options);

  const ServedModelOptions options_;
  const int64_t created_s_;
  std::unique_ptr<engine::LoadedModel> model_;
  // Of model_; one of the two.
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::EmbeddingEngine> embedder_;
  Result<ChatPrompt> chat_;
  std::unique_ptr<ApiModel> api_;  // refers to model_ and chat_
};

}  // namespace adit::server

#endif  // ADIT_SERVER_SERVED_MODEL_H_
