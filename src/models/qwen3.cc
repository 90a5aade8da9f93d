// Qwen3, dense (Yang et al. 2025): Llama's shape with an RMS norm on each query and key head.
#include <array>

#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {

Status Qwen3FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attention.sliding_window", 0));
  LayerSpec layer = PlainLayer(params);
  std::get<nn::AttentionBlockConfig>(layer.mixer).qk_norm = nn::QkNorm::kHead;
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status Qwen3FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({}));
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  keys.AddTensors(std::array{HfTensorRule{"model.layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight"},
                             HfTensorRule{"model.layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight"}});
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("use_sliding_window", 0.0));
  ADIT_RETURN_IF_ERROR(keys.CheckLayerTypes(params.num_layers, [](int64_t) { return false; }));
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
