// Gemma 2 (Gemma Team 2024): layers with a sliding window and without take turns, norms stand before and after each
// block, and scores and logits are capped.
#include <cmath>

#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

// What the released models have, and older files do not say.
constexpr double kScoreCap = 50.0;
constexpr double kLogitCap = 30.0;
constexpr int64_t kWindow = 4096;
// The 27B model alone scales scores by its hidden size per head; files do not say so, only its depth tells.
constexpr int64_t kGemma2LayersOf27B = 46;

// Checkpoints hold the weights of norms less one.
constexpr HfTensorRule kGemma2Norms[] = {
    {"model.norm.weight", "output_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.pre_feedforward_layernorm.weight", "blk.{}.ffn_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.post_feedforward_layernorm.weight", "blk.{}.post_ffw_norm.weight", HfTransform::kAddOne},
};

}  // namespace

Status Gemma2FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  spec.embedding.scale = std::sqrt(static_cast<float>(spec.hidden_dim));
  ADIT_ASSIGN_OR_RETURN(const double logit_cap, keys.FloatOr("final_logit_softcapping", kLogitCap, 0.0, 1e6));
  ADIT_ASSIGN_OR_RETURN(const double score_cap, keys.FloatOr("attn_logit_softcapping", kScoreCap, 0.0, 1e6));
  spec.output.softcap = static_cast<float>(logit_cap);
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));

  ADIT_ASSIGN_OR_RETURN(const int64_t window, keys.IntOr("attention.sliding_window", kWindow, 1, int64_t{1} << 40));
  LayerSpec layer = PlainLayer(params);
  layer.norms = NormPlaces::kBeforeAndAfter;
  std::get<nn::GatedFeedForwardConfig>(layer.feed_forward).activation = nn::Activation::kGeluTanh;
  auto& shape = std::get<nn::AttentionBlockConfig>(layer.mixer).shape;
  shape.softcap = static_cast<float>(score_cap);
  if (params.num_layers == kGemma2LayersOf27B) {
    shape.scale = 1.0f / std::sqrt(static_cast<float>(spec.hidden_dim / params.num_heads));
  }
  for (int64_t i = 0; i < params.num_layers; ++i) {
    shape.window = i % 2 == 0 ? window : 0;
    spec.layers.push_back(layer);
  }
  return Status();
}

Status Gemma2FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(
      const HfHyperparameters params,
      keys.ReadCommon({.tied = true, .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh"}));
  keys.AddTensors(kGemma2Norms);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  const formats::JsonFields config = keys.config();
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("use_bidirectional_attention", 0.0));
  ADIT_RETURN_IF_ERROR(keys.CheckLayerTypes(params.num_layers, [](int64_t layer) { return layer % 2 == 0; }));
  ADIT_ASSIGN_OR_RETURN(const int64_t hidden_dim, config.Int("hidden_size", 1, int64_t{1} << 24));
  const int64_t scaled_by = params.num_layers == kGemma2LayersOf27B ? hidden_dim / params.num_heads : params.head_dim;
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("query_pre_attn_scalar", static_cast<double>(scaled_by)));
  // An absent cap is none here, and the released models' in older GGUF files.
  ADIT_ASSIGN_OR_RETURN(const double score_cap, config.FloatOr("attn_logit_softcapping", 0.0, 0.0, 1e6));
  ADIT_ASSIGN_OR_RETURN(const double logit_cap, config.FloatOr("final_logit_softcapping", 0.0, 0.0, 1e6));
  keys.SetFloat("attn_logit_softcapping", score_cap);
  keys.SetFloat("final_logit_softcapping", logit_cap);
  ADIT_ASSIGN_OR_RETURN(const int64_t window, config.Int("sliding_window", 1, int64_t{1} << 31));
  keys.SetInt("attention.sliding_window", window);
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
