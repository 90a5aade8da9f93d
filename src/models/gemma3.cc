// Gemma 3, text (Gemma Team 2025): five layers with a sliding window and a rope of their own to each that sees
// everything, norms before and after each block, query and key norms, scaled embeddings.
#include <cmath>

#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {
namespace {

constexpr size_t kGlobalInterval = 6;
constexpr int kGlobalRope = 0;
constexpr int kLocalRope = 1;
// The 27B model alone scales scores by its hidden size per head; files do not say so, only its depth tells.
constexpr int64_t kLayersOf27B = 62;

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
  if (params.num_layers == kLayersOf27B) {
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

}  // namespace adit::models
