#include "cli/load_model.h"

#include "base/env.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/units.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "engine/weight_choice.h"

namespace adit::cli {
namespace {

std::optional<models::ActivationTerms> ChosenTerms(const EngineOptions& options) {
  if (options.activation_terms == "one") return models::ActivationTerms::kOne;
  if (options.activation_terms == "outliers") return models::ActivationTerms::kOutliers;
  if (options.activation_terms == "two") return models::ActivationTerms::kTwo;
  return std::nullopt;
}

}  // namespace

Result<int64_t> WeightBytesOf(const std::string& name, const EngineOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const std::optional<formats::WeightTypes> weight_types,
                        engine::WeightTypesFor(options.dtype, options.quantization));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> file, OpenModel(name));
  if (weight_types) {
    ADIT_ASSIGN_OR_RETURN(file, formats::Retyped(std::move(file), *weight_types));
  }
  int64_t total = 0;
  for (const formats::TensorInfo& tensor : file->tensors()) total += static_cast<int64_t>(tensor.size_bytes());
  return total;
}

std::string ChosenIsa(const EngineOptions& options) { return options.isa.value_or(env::Isa().value_or("auto")); }

Result<int> ChosenThreads(const EngineOptions& options) {
  if (options.threads) return *options.threads;
  const std::optional<std::string> variable = env::Threads();
  if (!variable) return 0;
  const Result<int64_t> count = ParseCount(*variable);
  if (!count.ok()) return InvalidArgument("ADIT_THREADS: {}", count.status().message());
  if (*count < 1 || *count > WorkerTeam::kMaxWorkers) {
    return InvalidArgument("ADIT_THREADS: {} is not in 1..{}", *count, WorkerTeam::kMaxWorkers);
  }
  return static_cast<int>(*count);
}

Result<engine::KvTypes> ChosenKvTypes(const EngineOptions& options) {
  return engine::ParseKvTypes(options.kv_type.value_or("auto"));
}

Result<int64_t> ChosenKvTokens(std::optional<int64_t> wanted, int64_t usual, const engine::LoadedModel& model,
                               const engine::KvTypes& types) {
  const engine::ContextFit fit{.model_tokens = wanted.value_or(usual),
                               .bytes_per_token = engine::KvBytesPerToken(model, types),
                               .available_bytes = engine::AvailableMemoryBytes()};
  if (!wanted) return engine::DefaultContext(fit);
  const Status status = engine::CheckContext(*wanted, fit);
  if (!status.ok()) return Status(status.code(), "--kv-tokens: " + status.message());
  return *wanted;
}

Result<int64_t> KvTokensWithinMemory(std::string_view memory, int64_t most_tokens, const engine::LoadedModel& model,
                                     const engine::KvTypes& types) {
  const auto budget = engine::ParseMemoryBudget(memory, engine::MachineMemoryBytes());
  if (!budget.ok()) return Status(budget.status().code(), "--memory: " + budget.status().message());
  return engine::KvTokensWithin({.budget_bytes = *budget,
                                 .used_bytes = engine::ResidentBytes(),
                                 .bytes_per_token = engine::KvBytesPerToken(model, types),
                                 .most_tokens = most_tokens});
}

Result<std::unique_ptr<engine::LoadedModel>> LoadModel(const std::string& name, const EngineOptions& options,
                                                       const std::function<Status(double share)>& progress) {
  ADIT_RETURN_IF_ERROR(CheckModelPath(name));
  ADIT_ASSIGN_OR_RETURN(const int threads, ChosenThreads(options));
  ADIT_ASSIGN_OR_RETURN(const std::optional<formats::WeightTypes> weight_types,
                        engine::WeightTypesFor(options.dtype, options.quantization));
  ADIT_ASSIGN_OR_RETURN(const int64_t weight_bytes, WeightBytesOf(name, options));
  ADIT_RETURN_IF_ERROR(
      engine::CheckWeightsFit(name, static_cast<size_t>(weight_bytes), engine::AvailableMemoryBytes()));
  ProgressBar bar(Stderr(), "Loading");
  Result<std::unique_ptr<engine::LoadedModel>> model =
      engine::LoadedModel::Load({.path = name,
                                 .isa = ChosenIsa(options),
                                 .num_threads = threads,
                                 .bind_threads = options.bind_threads,
                                 .activation_terms = ChosenTerms(options),
                                 .weight_types = weight_types,
                                 .progress = [&](double share) {
                                   bar.Update(share);
                                   return progress ? progress(share) : Status();
                                 }});
  if (!model.ok()) return InsideModel(model.status());
  return model;
}

}  // namespace adit::cli
