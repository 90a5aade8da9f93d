// GPT-NeoX and Pythia (Black et al. 2022, Biderman et al. 2023): attention and feed-forward read the same residual
// through norms of their own, a part of each head turns, the feed-forward is plain with the exact GELU.
#include <array>

#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

constexpr HfTensorRule kGptNeoxTensors[] = {
    {"gpt_neox.embed_in.weight", "token_embd.weight"},
    {"embed_out.weight", "output.weight"},
    {"gpt_neox.final_layer_norm.weight", "output_norm.weight"},
    {"gpt_neox.final_layer_norm.bias", "output_norm.bias"},
    {"gpt_neox.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight"},
    {"gpt_neox.layers.{}.input_layernorm.bias", "blk.{}.attn_norm.bias"},
    {"gpt_neox.layers.{}.post_attention_layernorm.weight", "blk.{}.ffn_norm.weight"},
    {"gpt_neox.layers.{}.post_attention_layernorm.bias", "blk.{}.ffn_norm.bias"},
    {"gpt_neox.layers.{}.attention.dense.weight", "blk.{}.attn_output.weight"},
    {"gpt_neox.layers.{}.attention.dense.bias", "blk.{}.attn_output.bias"},
    {"gpt_neox.layers.{}.mlp.dense_h_to_4h.weight", "blk.{}.ffn_up.weight"},
    {"gpt_neox.layers.{}.mlp.dense_h_to_4h.bias", "blk.{}.ffn_up.bias"},
    {"gpt_neox.layers.{}.mlp.dense_4h_to_h.weight", "blk.{}.ffn_down.weight"},
    {"gpt_neox.layers.{}.mlp.dense_4h_to_h.bias", "blk.{}.ffn_down.bias"},
    // Masks and frequencies, which follow from the configuration.
    {"gpt_neox.layers.{}.attention.bias", "", HfTransform::kIgnore},
    {"gpt_neox.layers.{}.attention.masked_bias", "", HfTransform::kIgnore},
    {"gpt_neox.layers.{}.attention.rotary_emb.inv_freq", "", HfTransform::kIgnore},
};

}  // namespace

Status GptNeoxFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec, nn::NormKind::kLayer));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  ADIT_ASSIGN_OR_RETURN(const bool parallel, keys.BoolOr("use_parallel_residual", true));
  if (parallel) layer.feed_forward_input = FeedForwardInput::kBesideMixer;
  layer.feed_forward = nn::PlainFeedForwardConfig{.ffn_dim = params.ffn_dim, .activation = nn::Activation::kGeluErf};
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status GptNeoxFromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params,
                        keys.ReadCommon({.norm_eps = 1e-5,
                                         .activation = "gelu",
                                         .norm_eps_key = "layer_norm_eps",
                                         .gguf_norm_eps_key = "attention.layer_norm_epsilon"}));
  keys.AddTensors(kGptNeoxTensors);
  // Rows stand by head: its query, its key, its value.
  const int64_t num_heads = params.num_heads;
  keys.AddTensors(std::array{HfTensorRule{"gpt_neox.layers.{}.attention.query_key_value.weight",
                                          "blk.{}.attn_qkv.weight", HfTransform::kGroupQkv, num_heads},
                             HfTensorRule{"gpt_neox.layers.{}.attention.query_key_value.bias", "blk.{}.attn_qkv.bias",
                                          HfTransform::kGroupQkv, num_heads}});
  ADIT_ASSIGN_OR_RETURN(const bool parallel, keys.config().BoolOr("use_parallel_residual", true));
  keys.SetBool("use_parallel_residual", parallel);
  ADIT_ASSIGN_OR_RETURN(const int64_t rope_dims, keys.RopeDims(params.head_dim, "rotary_pct", 0.25));
  return keys.ReadRope(rope_dims, 10000.0, "rotary_emb_base");
}

}  // namespace adit::models
