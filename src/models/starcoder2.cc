// StarCoder2 (Lozhkov et al. 2024): layer norms, biases everywhere, a plain feed-forward.
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

// What Llama's kin has not: biases of norms.
constexpr HfTensorRule kStarcoder2Tensors[] = {
    {"model.norm.bias", "output_norm.bias"},
    {"model.layers.{}.input_layernorm.bias", "blk.{}.attn_norm.bias"},
    {"model.layers.{}.post_attention_layernorm.bias", "blk.{}.ffn_norm.bias"},
    {"model.layers.{}.mlp.c_fc.weight", "blk.{}.ffn_up.weight"},
    {"model.layers.{}.mlp.c_fc.bias", "blk.{}.ffn_up.bias"},
    {"model.layers.{}.mlp.c_proj.weight", "blk.{}.ffn_down.weight"},
    {"model.layers.{}.mlp.c_proj.bias", "blk.{}.ffn_down.bias"},
};

}  // namespace

Status Starcoder2FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec, nn::NormKind::kLayer));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  layer.feed_forward = nn::PlainFeedForwardConfig{.ffn_dim = params.ffn_dim, .activation = nn::Activation::kGeluTanh};
  ADIT_ASSIGN_OR_RETURN(std::get<nn::AttentionBlockConfig>(layer.mixer).shape.window,
                        keys.IntOr("attention.sliding_window", 0, 0, int64_t{1} << 40));
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status Starcoder2FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params,
                        keys.ReadCommon({.tied = true,
                                         .norm_eps = 1e-5,
                                         .activation = "gelu_pytorch_tanh",
                                         .norm_eps_key = "norm_epsilon",
                                         .gguf_norm_eps_key = "attention.layer_norm_epsilon"}));
  keys.AddTensors(kStarcoder2Tensors);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  ADIT_ASSIGN_OR_RETURN(const int64_t window, keys.config().IntOr("sliding_window", 0, 0, int64_t{1} << 31));
  if (window > 0) keys.SetInt("attention.sliding_window", window);
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
