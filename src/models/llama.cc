// Llama 1 to 3 and what shares their shape (Mistral, SmolLM, Yi, ...): Touvron et al. 2023, Jiang et al. 2023.
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {

Status LlamaFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  // GGUF converters reorder the rows of q and k of this family so that pairs are neighbours.
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/true));
  spec.ropes.push_back(std::move(rope));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attention.scale", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("logit_scale", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("embedding_scale", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("residual_scale", 0.0));
  LayerSpec layer = PlainLayer(params);
  ADIT_ASSIGN_OR_RETURN(std::get<nn::AttentionBlockConfig>(layer.mixer).shape.window,
                        keys.IntOr("attention.sliding_window", 0, 0, int64_t{1} << 40));
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status LlamaFromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({}));
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/true));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("partial_rotary_factor", 1.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("rope_interleaved", 0.0));
  return keys.ReadRope(params.head_dim);
}

Status MistralFromHf(HfKeys& keys) {
  ADIT_RETURN_IF_ERROR(LlamaFromHf(keys));
  ADIT_ASSIGN_OR_RETURN(const int64_t window, keys.config().IntOr("sliding_window", 0, 0, int64_t{1} << 31));
  if (window > 0) keys.SetInt("attention.sliding_window", window);
  return Status();
}

}  // namespace adit::models
