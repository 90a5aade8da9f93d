#ifndef ADIT_MODELS_HF_REGISTRY_H_
#define ADIT_MODELS_HF_REGISTRY_H_

#include <string>

#include "adit/status.h"
#include "formats/hf_folder.h"
#include "models/hf_keys.h"

namespace adit::models {

// One family: what config.json gives as model_type, GGUF's name for it, and what turns its settings into keys.
struct HfFamily {
  const char* model_type;
  const char* architecture;
  Status (*from_hf)(HfKeys& keys);
};

// What a GGUF file of `folder`, which outlives the result, would say, general.* included. Unsupported, by name, for
// another model_type, a quantised checkpoint, or a setting that this build would have to ignore; Corrupt for members
// that are absent or out of range.
Result<HfKeys> ReadHfConfig(const formats::HfFolder& folder);

// "gemma3_text, llama, ...", for messages.
std::string SupportedModelTypes();

Status BertFromHf(HfKeys& keys);
Status CohereFromHf(HfKeys& keys);
Status GemmaFromHf(HfKeys& keys);
Status Gemma2FromHf(HfKeys& keys);
Status Glm4FromHf(HfKeys& keys);
Status Gpt2FromHf(HfKeys& keys);
Status GptNeoxFromHf(HfKeys& keys);
Status GraniteFromHf(HfKeys& keys);
Status Olmo2FromHf(HfKeys& keys);
Status Phi3FromHf(HfKeys& keys);
Status StableLmFromHf(HfKeys& keys);
Status Starcoder2FromHf(HfKeys& keys);
Status LlamaFromHf(HfKeys& keys);
Status MistralFromHf(HfKeys& keys);
Status Qwen2FromHf(HfKeys& keys);
Status Qwen3FromHf(HfKeys& keys);
Status Gemma3FromHf(HfKeys& keys);
Status SmolLm3FromHf(HfKeys& keys);

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_REGISTRY_H_
