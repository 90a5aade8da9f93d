#ifndef ADIT_ENGINE_LOADED_MODEL_H_
#define ADIT_ENGINE_LOADED_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "base/worker_team.h"
#include "formats/gguf.h"
#include "formats/retyped_model.h"
#include "grammar/compiler.h"
#include "kernels/kernel_table.h"
#include "models/model_spec.h"
#include "models/weights.h"
#include "nn/exec_context.h"
#include "tokenizer/tokenizer.h"

namespace adit::engine {

struct LoadOptions {
  std::string path;                                         // a .gguf file or a Hugging Face folder
  std::string isa = "auto";                                 // kernel set, as kernels::SelectKernels takes it
  int num_threads = 0;                                      // 0: one for each CPU that this process may use
  bool bind_threads = true;                                 // Placement::kBound
  std::optional<models::ActivationTerms> activation_terms;  // unset: ActivationTermsFor the model
  // Types to hold the weights in; unset: those of the file.
  std::optional<formats::WeightTypes> weight_types = std::nullopt;
  models::LoadProgress progress;
};

// A model in memory with what it needs to run: description, weights packed for the chosen kernels, tokenizer, threads.
// Immutable; its team runs one thing at a time.
class LoadedModel {
 public:
  // NotFound, Corrupt or Unsupported as the parts say, InvalidArgument for the options, ResourceExhausted for memory.
  static Result<std::unique_ptr<LoadedModel>> Load(const LoadOptions& options);

  const std::string& path() const { return file_->path(); }
  const formats::GgufFile& file() const { return *file_; }
  const models::ModelSpec& spec() const { return spec_; }
  const models::ModelWeights& weights() const { return weights_; }
  const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }
  // Of grammars for this tokenizer. Any thread.
  grammar::Compiler& grammars() const { return *grammars_; }
  const kernels::KernelTable& kernels() const { return *kernels_; }
  nn::ExecContext exec_context() const { return {*kernels_, *team_}; }
  int num_threads() const { return team_->size(); }
  // The chat template of the file, empty where it has none.
  std::string_view chat_template() const { return chat_template_; }
  // What loading took, in seconds: "files" (opened, their header read), "tokenizer" and "weights" (packed).
  const std::vector<std::pair<const char*, double>>& load_phases() const { return load_phases_; }
  double load_seconds() const;

 private:
  LoadedModel() = default;

  std::shared_ptr<formats::GgufFile> file_;
  models::ModelSpec spec_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<grammar::Compiler> grammars_;  // of tokenizer_
  const kernels::KernelTable* kernels_ = nullptr;
  std::unique_ptr<WorkerTeam> team_;
  models::ModelWeights weights_;
  std::string chat_template_;
  std::vector<std::pair<const char*, double>> load_phases_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_LOADED_MODEL_H_
