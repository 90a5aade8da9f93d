// Gemma (Gemma Team 2024): Llama's shape with a GELU in the gate, wide heads and scaled embeddings.
#include <cmath>

#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

// Checkpoints hold the weights of norms less one.
constexpr HfTensorRule kGemmaNorms[] = {
    {"model.norm.weight", "output_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.ffn_norm.weight", HfTransform::kAddOne},
};

}  // namespace

Status GemmaFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  spec.embedding.scale = std::sqrt(static_cast<float>(spec.hidden_dim));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("final_logit_softcapping", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attn_logit_softcapping", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attention.sliding_window", 0.0));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  std::get<nn::GatedFeedForwardConfig>(layer.feed_forward).activation = nn::Activation::kGeluTanh;
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

Status GemmaFromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(
      const HfHyperparameters params,
      keys.ReadCommon({.tied = true, .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh"}));
  keys.AddTensors(kGemmaNorms);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
