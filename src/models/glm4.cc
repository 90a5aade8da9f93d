// GLM-4 of 2025 (GLM-4-0414): norms stand before and after each block, half of each head turns in neighbouring pairs,
// gate and up are one matrix.
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

constexpr HfTensorRule kGlm4Tensors[] = {
    {"model.layers.{}.post_self_attn_layernorm.weight", "blk.{}.post_attention_norm.weight"},
    {"model.layers.{}.post_mlp_layernorm.weight", "blk.{}.post_ffw_norm.weight"},
    {"model.layers.{}.mlp.gate_up_proj.weight", "blk.{}.ffn_up.weight"},
};

}  // namespace

Status Glm4FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_RETURN_IF_ERROR(keys.RefuseIfThere("rope.dimension_sections"));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/true));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  layer.norms = NormPlaces::kBeforeAndAfter;
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status Glm4FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({.norm_eps = 1.5625e-7}));
  keys.AddTensors(kGlm4Tensors);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  ADIT_ASSIGN_OR_RETURN(const int64_t rope_dims, keys.RopeDims(params.head_dim, "partial_rotary_factor", 0.5));
  return keys.ReadRope(rope_dims);
}

}  // namespace adit::models
