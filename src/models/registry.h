#ifndef ADIT_MODELS_REGISTRY_H_
#define ADIT_MODELS_REGISTRY_H_

#include <string>

#include "adit/status.h"
#include "formats/gguf.h"
#include "models/model_spec.h"

namespace adit::models {

// One family: the name a GGUF file gives as general.architecture, and what reads its keys.
struct Family {
  const char* architecture;
  Status (*from_gguf)(const formats::GgufFile& file, ModelSpec& spec);
};

// The description of the model in `file`. Unsupported, by name and with what is supported, for another architecture or
// a feature that this build would have to ignore; Corrupt for keys that are absent or out of range.
Result<ModelSpec> SpecFromGguf(const formats::GgufFile& file);

// "bert, command-r, ...", for messages.
std::string SupportedArchitectures();

Status BertFromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status CohereFromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status GemmaFromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Gemma2FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Gemma3FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Glm4FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Gpt2FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status GptNeoxFromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status GraniteFromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status LlamaFromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Olmo2FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Phi3FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Qwen2FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Qwen3FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status SmolLm3FromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status StableLmFromGguf(const formats::GgufFile& file, ModelSpec& spec);
Status Starcoder2FromGguf(const formats::GgufFile& file, ModelSpec& spec);

}  // namespace adit::models

#endif  // ADIT_MODELS_REGISTRY_H_
