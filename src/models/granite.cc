// Granite 3, dense (IBM 2024): Llama's shape with multipliers of embeddings, scores, residuals and logits.
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {

Status GraniteFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  // GGUF converters reorder the rows of q and k of this family, as Llama's, so that pairs are neighbours.
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/true));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  auto& scale = std::get<nn::AttentionBlockConfig>(layer.mixer).shape.scale;
  ADIT_ASSIGN_OR_RETURN(scale, keys.MultiplierOr("attention.scale", scale));
  ADIT_ASSIGN_OR_RETURN(spec.embedding.scale, keys.MultiplierOr("embedding_scale", 1.0f));
  ADIT_ASSIGN_OR_RETURN(spec.residual_scale, keys.MultiplierOr("residual_scale", 1.0f));
  // It divides the logits.
  ADIT_ASSIGN_OR_RETURN(const float logit_divisor, keys.MultiplierOr("logit_scale", 1.0f));
  spec.output.scale = 1.0f / logit_divisor;
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status GraniteFromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({}));
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/true));
  const auto set = [&keys](const char* member, const char* key) -> Status {
    ADIT_ASSIGN_OR_RETURN(const double multiplier, keys.config().FloatOr(member, 1.0, 1e-9, 1e9));
    keys.SetFloat(key, multiplier);
    return Status();
  };
  ADIT_RETURN_IF_ERROR(set("attention_multiplier", "attention.scale"));
  ADIT_RETURN_IF_ERROR(set("embedding_multiplier", "embedding_scale"));
  ADIT_RETURN_IF_ERROR(set("residual_multiplier", "residual_scale"));
  ADIT_RETURN_IF_ERROR(set("logits_scaling", "logit_scale"));
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
