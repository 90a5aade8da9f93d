#include "engine/loaded_model.h"

#include <malloc.h>

#include <utility>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/error.h"
#include "engine/model_tokenizer.h"
#include "kernels/dispatch.h"
#include "models/hf_model.h"
#include "models/registry.h"

namespace adit::engine {
namespace {

// A token that the tokenizer can give needs a row to be embedded by. More rows than tokens are padding.
Status CheckVocabulary(const formats::GgufFile& file, const models::ModelSpec& spec,
                       const tokenizer::Tokenizer& tokenizer) {
  if (spec.vocab_size >= tokenizer.vocab_size()) return Status();
  return Corrupt("gguf: {}: tensor 'token_embd.weight' has {} rows for the {} tokens of tokenizer.ggml.tokens",
                 file.path(), spec.vocab_size, tokenizer.vocab_size());
}

// The model stays for long: what only its loading needed goes back to the system.
void ReturnMemory(const formats::GgufFile& file) {
  file.ReleaseHeader();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace

Result<std::unique_ptr<LoadedModel>> LoadedModel::Load(const LoadOptions& options) {
  std::unique_ptr<LoadedModel> model(new LoadedModel());
  double last_s = SteadySeconds();
  const auto end_phase = [&](const char* name) {
    const double now_s = SteadySeconds();
    model->load_phases_.emplace_back(name, now_s - std::exchange(last_s, now_s));
  };
  ADIT_ASSIGN_OR_RETURN(model->kernels_, kernels::SelectKernels(options.isa));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> file, models::OpenModelFiles(options.path));
  if (options.weight_types) {
    ADIT_ASSIGN_OR_RETURN(file, formats::Retyped(std::move(file), *options.weight_types));
  }
  model->file_ = std::move(file);
  const formats::GgufMetadata& metadata = model->file_->metadata();
  ADIT_ASSIGN_OR_RETURN(model->spec_, models::SpecFromGguf(*model->file_));
  end_phase("files");
  ADIT_ASSIGN_OR_RETURN(model->tokenizer_, OpenTokenizer(*model->file_));
  model->grammars_ = std::make_unique<grammar::Compiler>(*model->tokenizer_);
  ADIT_RETURN_IF_ERROR(CheckVocabulary(*model->file_, model->spec_, *model->tokenizer_));
  ADIT_ASSIGN_OR_RETURN(model->chat_template_, metadata.StringOr("tokenizer.chat_template", ""));
  end_phase("tokenizer");
  ADIT_ASSIGN_OR_RETURN(model->team_,
                        WorkerTeam::Create(options.num_threads > 0 ? options.num_threads : NumAvailableCpus(),
                                           options.bind_threads ? Placement::kBound : Placement::kFree));
  ADIT_ASSIGN_OR_RETURN(model->weights_,
                        models::LoadWeights(model->spec_, model->file_, model->exec_context(),
                                            options.activation_terms.value_or(models::ActivationTermsFor(model->spec_)),
                                            options.progress));
  ReturnMemory(*model->file_);
  end_phase("weights");
  return model;
}

double LoadedModel::load_seconds() const {
  double seconds = 0.0;
  for (const auto& [name, phase_seconds] : load_phases_) seconds += phase_seconds;
  return seconds;
}

}  // namespace adit::engine
