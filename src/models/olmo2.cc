// OLMo 2 (OLMo Team 2024): norms stand after the blocks alone, and queries and keys are normed as whole rows.
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

constexpr HfTensorRule kOlmo2Tensors[] = {
    {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight"},
    {"model.layers.{}.post_feedforward_layernorm.weight", "blk.{}.post_ffw_norm.weight"},
    {"model.layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight"},
    {"model.layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight"},
};

}  // namespace

Status Olmo2FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attention.sliding_window", 0.0));
  LayerSpec layer = PlainLayer(params);
  layer.norms = NormPlaces::kAfter;
  std::get<nn::AttentionBlockConfig>(layer.mixer).qk_norm = nn::QkNorm::kRow;
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status Olmo2FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({.norm_eps = 1e-5}));
  keys.AddTensors(kOlmo2Tensors);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  ADIT_RETURN_IF_ERROR(keys.CheckLayerTypes(params.num_layers, [](int64_t) { return false; }));
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
