// Command R and R+ (Cohere 2024): attention and feed-forward read the same normed residual, norms are layer norms
// without bias, logits are scaled, and R+ norms each query and key head by weights of its own.
#include <array>

#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {

Status CohereFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec, nn::NormKind::kLayer));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/true));
  spec.ropes.push_back(std::move(rope));
  ADIT_ASSIGN_OR_RETURN(spec.output.scale, keys.MultiplierOr("logit_scale", 1.0f));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attention.sliding_window", 0.0));
  LayerSpec layer = PlainLayer(params);
  layer.feed_forward_input = FeedForwardInput::kAsMixer;
  if (file.Find("blk.0.attn_q_norm.weight") != nullptr) {
    std::get<nn::AttentionBlockConfig>(layer.mixer).qk_norm = nn::QkNorm::kEachHead;
  }
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status CohereFromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params,
                        keys.ReadCommon({.tied = true,
                                         .norm_eps = 1e-5,
                                         .norm_eps_key = "layer_norm_eps",
                                         .gguf_norm_eps_key = "attention.layer_norm_epsilon"}));
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  keys.AddTensors(std::array{HfTensorRule{"model.layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight"},
                             HfTensorRule{"model.layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight"}});
  ADIT_ASSIGN_OR_RETURN(const double logit_scale, keys.config().FloatOr("logit_scale", 0.0625, 1e-9, 1e9));
  keys.SetFloat("logit_scale", logit_scale);
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
