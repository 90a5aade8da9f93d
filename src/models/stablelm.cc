// StableLM 2 and its kin (Bellagente et al. 2024): layer norms, a part of each head turns. The 12B model also norms
// each query and key head by weights of its own, and its feed-forward reads what attention reads.
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

// What Llama's kin has not: biases of norms.
constexpr HfTensorRule kStableLmTensors[] = {
    {"model.norm.bias", "output_norm.bias"},
    {"model.layers.{}.input_layernorm.bias", "blk.{}.attn_norm.bias"},
    {"model.layers.{}.post_attention_layernorm.bias", "blk.{}.ffn_norm.bias"},
};

}  // namespace

Status StableLmFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec, nn::NormKind::kLayer));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  // Files of older models say use_parallel_residual though theirs is not; the tensors tell.
  if (file.Find("blk.0.ffn_norm.weight") == nullptr) layer.feed_forward_input = FeedForwardInput::kAsMixer;
  if (file.Find("blk.0.attn_q_norm.weight") != nullptr) {
    std::get<nn::AttentionBlockConfig>(layer.mixer).qk_norm = nn::QkNorm::kEachHead;
  }
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status StableLmFromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(
      const HfHyperparameters params,
      keys.ReadCommon(
          {.norm_eps = 1e-5, .norm_eps_key = "layer_norm_eps", .gguf_norm_eps_key = "attention.layer_norm_epsilon"}));
  keys.AddTensors(kStableLmTensors);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  // Checkpoints that norm each head hold a tensor for each.
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("qk_layernorm", 0.0));
  ADIT_ASSIGN_OR_RETURN(const bool parallel, keys.config().BoolOr("use_parallel_residual", false));
  keys.SetBool("use_parallel_residual", parallel);
  ADIT_ASSIGN_OR_RETURN(const int64_t rope_dims, keys.RopeDims(params.head_dim, "partial_rotary_factor", 0.25));
  return keys.ReadRope(rope_dims);
}

}  // namespace adit::models
