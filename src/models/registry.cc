#include "models/registry.h"

#include <string_view>

#include "base/error.h"

namespace adit::models {
namespace {

constexpr Family kFamilies[] = {
    {"bert", &BertFromGguf},       {"command-r", &CohereFromGguf},  {"gemma", &GemmaFromGguf},
    {"gemma2", &Gemma2FromGguf},   {"gemma3", &Gemma3FromGguf},     {"glm4", &Glm4FromGguf},
    {"gpt2", &Gpt2FromGguf},       {"gptneox", &GptNeoxFromGguf},   {"granite", &GraniteFromGguf},
    {"llama", &LlamaFromGguf},     {"mistral", &LlamaFromGguf},     {"olmo2", &Olmo2FromGguf},
    {"phi3", &Phi3FromGguf},       {"qwen2", &Qwen2FromGguf},       {"qwen3", &Qwen3FromGguf},
    {"smollm3", &SmolLm3FromGguf}, {"stablelm", &StableLmFromGguf}, {"starcoder2", &Starcoder2FromGguf},
};

// The vocabulary is as long as the embedding table; a tokenizer may name fewer tokens.
Status ReadVocabulary(const formats::GgufFile& file, ModelSpec& spec) {
  const formats::TensorInfo* embedding = file.Find("token_embd.weight");
  if (embedding == nullptr) return Corrupt("gguf: {}: tensor 'token_embd.weight' is missing", file.path());
  if (embedding->rank != 2 || embedding->shape[1] != spec.hidden_dim) {
    return Corrupt("gguf: {}: tensor 'token_embd.weight' has rows of {}, expected {}.embedding_length = {}",
                   file.path(), embedding->shape[1], spec.architecture, spec.hidden_dim);
  }
  spec.vocab_size = embedding->shape[0];
  return Status();
}

// Any family's file may say that its tokens see each other both ways.
Status ReadCausality(const formats::GgufFile& file, ModelSpec& spec) {
  const std::string key = spec.architecture + ".attention.causal";
  ADIT_ASSIGN_OR_RETURN(const bool causal, file.metadata().BoolOr(key, !spec.NeedsWholeSequences()));
  for (LayerSpec& layer : spec.layers) {
    nn::AttentionConfig& shape = std::get<nn::AttentionBlockConfig>(layer.mixer).shape;
    shape.causal = causal;
    if (causal || shape.window == 0) continue;
    return Unsupported("gguf: {}: {} is false; this build runs layers with a sliding window only with true",
                       file.path(), key);
  }
  return Status();
}

}  // namespace

std::string SupportedArchitectures() {
  std::string names;
  for (const Family& family : kFamilies) {
    if (!names.empty()) names += ", ";
    names += family.architecture;
  }
  return names;
}

Result<ModelSpec> SpecFromGguf(const formats::GgufFile& file) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view architecture, file.metadata().GetString("general.architecture"));
  for (const Family& family : kFamilies) {
    if (architecture != family.architecture) continue;
    ModelSpec spec{.architecture = std::string(architecture)};
    ADIT_RETURN_IF_ERROR(family.from_gguf(file, spec));
    ADIT_RETURN_IF_ERROR(ReadCausality(file, spec));
    ADIT_RETURN_IF_ERROR(ReadVocabulary(file, spec));
    return spec;
  }
  return Unsupported("gguf: {}: architecture '{}' is not supported; this build runs {}", file.path(), architecture,
                     SupportedArchitectures());
}

}  // namespace adit::models
