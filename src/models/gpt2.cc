// GPT-2 (Radford et al. 2019): learned positions, layer norms, biases everywhere, a plain feed-forward.
#include <array>

#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

// The matrices of GPT-2's checkpoints are [inputs, outputs]. Some have the prefix "transformer.", some have not.
constexpr HfTensorRule kGpt2Tensors[] = {
    {"wte.weight", "token_embd.weight"},
    {"wpe.weight", "position_embd.weight"},
    {"ln_f.weight", "output_norm.weight"},
    {"ln_f.bias", "output_norm.bias"},
    {"h.{}.ln_1.weight", "blk.{}.attn_norm.weight"},
    {"h.{}.ln_1.bias", "blk.{}.attn_norm.bias"},
    {"h.{}.ln_2.weight", "blk.{}.ffn_norm.weight"},
    {"h.{}.ln_2.bias", "blk.{}.ffn_norm.bias"},
    {"h.{}.attn.c_attn.weight", "blk.{}.attn_qkv.weight", HfTransform::kTranspose},
    {"h.{}.attn.c_attn.bias", "blk.{}.attn_qkv.bias"},
    {"h.{}.attn.c_proj.weight", "blk.{}.attn_output.weight", HfTransform::kTranspose},
    {"h.{}.attn.c_proj.bias", "blk.{}.attn_output.bias"},
    {"h.{}.mlp.c_fc.weight", "blk.{}.ffn_up.weight", HfTransform::kTranspose},
    {"h.{}.mlp.c_fc.bias", "blk.{}.ffn_up.bias"},
    {"h.{}.mlp.c_proj.weight", "blk.{}.ffn_down.weight", HfTransform::kTranspose},
    {"h.{}.mlp.c_proj.bias", "blk.{}.ffn_down.bias"},
    // Masks, which follow from the context.
    {"h.{}.attn.bias", "", HfTransform::kIgnore},
    {"h.{}.attn.masked_bias", "", HfTransform::kIgnore},
};

}  // namespace

Status Gpt2FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec, nn::NormKind::kLayer));
  spec.embedding.learned_positions = true;
  LayerSpec layer = PlainLayer(params);
  std::get<nn::AttentionBlockConfig>(layer.mixer).rope = -1;
  layer.feed_forward = nn::PlainFeedForwardConfig{.ffn_dim = params.ffn_dim, .activation = nn::Activation::kGeluTanh};
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status Gpt2FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params,
                        keys.ReadCommon({.tied = true,
                                         .norm_eps = 1e-5,
                                         .activation_key = "activation_function",
                                         .activation = "gelu_new",
                                         .norm_eps_key = "layer_norm_epsilon",
                                         .gguf_norm_eps_key = "attention.layer_norm_epsilon",
                                         .hidden_key = "n_embd",
                                         .layers_key = "n_layer",
                                         .heads_key = "n_head",
                                         .ffn_key = "n_inner",
                                         .context_key = "n_positions",
                                         .ffn_per_hidden = 4}));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("scale_attn_by_inverse_layer_idx", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("scale_attn_weights", 1.0));
  keys.tensors().SetOptionalPrefix("transformer.");
  keys.AddTensors(kGpt2Tensors);
  keys.AddTensors(std::array{
      HfTensorRule{"lm_head.weight", "output.weight", params.tied ? HfTransform::kIgnore : HfTransform::kNone}});
  return Status();
}

}  // namespace adit::models
