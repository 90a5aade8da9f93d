// Gemma 3, text (Gemma Team 2025): five layers with a sliding window and a rope of their own to each that sees
// everything, norms before and after each block, query and key norms, scaled embeddings.
#include <cmath>

#include "base/error.h"
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

constexpr size_t kGlobalInterval = 6;
constexpr int kGlobalRope = 0;
constexpr int kLocalRope = 1;
// The 27B model alone scales scores by its hidden size per head; files do not say so, only its depth tells.
constexpr int64_t kGemma3LayersOf27B = 62;

// Checkpoints hold the weights of norms less one.
constexpr HfTensorRule kGemma3Norms[] = {
    {"model.norm.weight", "output_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.pre_feedforward_layernorm.weight", "blk.{}.ffn_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.post_feedforward_layernorm.weight", "blk.{}.post_ffw_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight", HfTransform::kAddOne},
    {"model.layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight", HfTransform::kAddOne},
};

}  // namespace

Status Gemma3FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  spec.embedding.scale = std::sqrt(static_cast<float>(spec.hidden_dim));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("final_logit_softcapping", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attn_logit_softcapping", 0.0));

  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig global, keys.ReadRope(params, /*interleaved=*/false));
  nn::RopeConfig local{.num_pairs = global.num_pairs};
  ADIT_ASSIGN_OR_RETURN(local.theta, keys.FloatOr("rope.freq_base_swa", 10000.0, 2.0, 1e15));
  spec.ropes = {std::move(global), std::move(local)};

  ADIT_ASSIGN_OR_RETURN(const int64_t window, keys.Int("attention.sliding_window", 1, int64_t{1} << 40));
  LayerSpec layer = PlainLayer(params);
  layer.norms = NormPlaces::kBeforeAndAfter;
  std::get<nn::GatedFeedForwardConfig>(layer.feed_forward).activation = nn::Activation::kGeluTanh;
  auto& attention = std::get<nn::AttentionBlockConfig>(layer.mixer);
  attention.qk_norm = nn::QkNorm::kHead;
  if (params.num_layers == kGemma3LayersOf27B) {
    attention.shape.scale = 1.0f / std::sqrt(static_cast<float>(spec.hidden_dim / params.num_heads));
  }
  for (size_t i = 0; i < static_cast<size_t>(params.num_layers); ++i) {
    const bool is_global = i % kGlobalInterval == kGlobalInterval - 1;
    attention.rope = is_global ? kGlobalRope : kLocalRope;
    attention.shape.window = is_global ? 0 : window;
    spec.layers.push_back(layer);
  }
  return Status();
}

Status Gemma3FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(
      const HfHyperparameters params,
      keys.ReadCommon({.tied = true, .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh"}));
  // Ahead of Llama's rules: its norm before the feed-forward has the name of another one here.
  keys.AddTensors(kGemma3Norms);
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));

  const formats::JsonFields config = keys.config();
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("use_bidirectional_attention", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attn_logit_softcapping", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("final_logit_softcapping", 0.0));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("sliding_window_pattern", static_cast<double>(kGlobalInterval)));
  const auto is_sliding = [](int64_t layer) {
    return static_cast<size_t>(layer) % kGlobalInterval != kGlobalInterval - 1;
  };
  ADIT_RETURN_IF_ERROR(keys.CheckLayerTypes(params.num_layers, is_sliding));
  ADIT_ASSIGN_OR_RETURN(const int64_t hidden_dim, config.Int("hidden_size", 1, int64_t{1} << 24));
  const int64_t scaled_by = params.num_layers == kGemma3LayersOf27B ? hidden_dim / params.num_heads : params.head_dim;
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("query_pre_attn_scalar", static_cast<double>(scaled_by)));

  ADIT_ASSIGN_OR_RETURN(const int64_t window, config.Int("sliding_window", 1, int64_t{1} << 31));
  keys.SetInt("attention.sliding_window", window);
  ADIT_RETURN_IF_ERROR(keys.ReadRope(params.head_dim, 1e6));
  ADIT_ASSIGN_OR_RETURN(const double local_theta, keys.SlidingTheta("rope_local_base_freq", 10000.0));
  keys.SetFloat("rope.freq_base_swa", local_theta);
  return Status();
}

}  // namespace adit::models
