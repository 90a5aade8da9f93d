// Phi-3 and Phi-4 (Abdin et al. 2024): Llama's shape with a sliding window, q, k and v in one matrix as well as gate
// and up, and, for long contexts, LongRoPE (Ding et al. 2024).
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

constexpr HfTensorRule kPhi3Tensors[] = {
    {"model.layers.{}.self_attn.qkv_proj.weight", "blk.{}.attn_qkv.weight"},
    {"model.layers.{}.mlp.gate_up_proj.weight", "blk.{}.ffn_up.weight"},
};

}  // namespace

Status Phi3FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  ADIT_ASSIGN_OR_RETURN(std::get<nn::AttentionBlockConfig>(layer.mixer).shape.window,
                        keys.IntOr("attention.sliding_window", 0, 0, int64_t{1} << 40));
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status Phi3FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({.norm_eps = 1e-5}));
  keys.AddTensors(kPhi3Tensors);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  ADIT_ASSIGN_OR_RETURN(const int64_t window, keys.config().IntOr("sliding_window", 0, 0, int64_t{1} << 31));
  if (window > 0) keys.SetInt("attention.sliding_window", window);
  ADIT_ASSIGN_OR_RETURN(const int64_t rope_dims, keys.RopeDims(params.head_dim, "partial_rotary_factor", 1.0));
  return keys.ReadRope(rope_dims);
}

}  // namespace adit::models
