#include "models/hf_registry.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"

namespace adit::models {
namespace {

constexpr HfFamily kHfFamilies[] = {
    {"bert", "bert", &BertFromHf},
    {"cohere", "command-r", &CohereFromHf},
    {"gemma", "gemma", &GemmaFromHf},
    {"gemma2", "gemma2", &Gemma2FromHf},
    {"gemma3_text", "gemma3", &Gemma3FromHf},
    {"glm4", "glm4", &Glm4FromHf},
    {"gpt2", "gpt2", &Gpt2FromHf},
    {"gpt_neox", "gptneox", &GptNeoxFromHf},
    {"granite", "granite", &GraniteFromHf},
    {"llama", "llama", &LlamaFromHf},
    {"mistral", "llama", &MistralFromHf},
    {"olmo2", "olmo2", &Olmo2FromHf},
    {"phi3", "phi3", &Phi3FromHf},
    {"qwen2", "qwen2", &Qwen2FromHf},
    {"qwen3", "qwen3", &Qwen3FromHf},
    {"smollm3", "smollm3", &SmolLm3FromHf},
    {"stablelm", "stablelm", &StableLmFromHf},
    {"starcoder2", "starcoder2", &Starcoder2FromHf},
};

// How embeddings are made, where the folder says so.
Status SetPooling(HfKeys& keys) {
  // What classifies pools in a way of its own.
  if (keys.values().contains(keys.architecture() + ".pooling_type")) return Status();
  struct Mode {
    const char* name;
    int64_t type;
  };
  constexpr Mode kModes[] = {
      {"pooling_mode_mean_tokens", 1}, {"pooling_mode_cls_token", 2}, {"pooling_mode_lasttoken", 3}};
  constexpr const char* kUnknownModes[] = {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                                           "pooling_mode_weightedmean_tokens"};
  const formats::JsonFields config = keys.folder().pooling_config();
  for (const char* name : kUnknownModes) {
    ADIT_ASSIGN_OR_RETURN(const bool on, config.BoolOr(name, false));
    if (on) return Unsupported("{}: {} is not supported; this build knows mean, cls and last", config.where(), name);
  }
  int num_modes = 0;
  for (const Mode& mode : kModes) {
    ADIT_ASSIGN_OR_RETURN(const bool on, config.BoolOr(mode.name, false));
    if (!on) continue;
    if (++num_modes > 1) return Unsupported("{}: several ways of pooling at once are not supported", config.where());
    keys.SetInt("pooling_type", mode.type);
  }
  return Status();
}

// The folder's own name, links and dots followed.
std::string NameOf(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.filename().string();
}

}  // namespace

std::string SupportedModelTypes() {
  std::string names;
  for (const HfFamily& family : kHfFamilies) {
    if (!names.empty()) names += ", ";
    names += family.model_type;
  }
  return names;
}

Result<HfKeys> ReadHfConfig(const formats::HfFolder& folder) {
  const formats::JsonFields config = folder.config();
  ADIT_ASSIGN_OR_RETURN(const std::string model_type, config.StringOr("model_type", ""));
  if (model_type.empty()) return Corrupt("{}: model_type is missing", config.where());
  for (const HfFamily& family : kHfFamilies) {
    if (model_type != family.model_type) continue;
    HfKeys keys(folder, family.architecture);
    const auto set = [&](const char* key, std::string text) {
      keys.values()[key] = {.type = formats::GgufType::kString, .value = std::move(text)};
    };
    set("general.architecture", family.architecture);
    set("general.type", "model");
    set("general.name", NameOf(folder.path()));
    ADIT_RETURN_IF_ERROR(family.from_hf(keys));
    ADIT_RETURN_IF_ERROR(SetPooling(keys));
    return keys;
  }
  return Unsupported("{}: model_type {} is not supported; this build runs {}", config.where(),
                     formats::Quoted(model_type), SupportedModelTypes());
}

}  // namespace adit::models
