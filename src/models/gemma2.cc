// Gemma 2 (Gemma Team 2024): layers with a sliding window and without take turns, norms stand before and after each
// block, and scores and logits are capped.
#include <cmath>

#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {
namespace {

// What the released models have, and older files do not say.
constexpr double kScoreCap = 50.0;
constexpr double kLogitCap = 30.0;
constexpr int64_t kWindow = 4096;
// The 27B model alone scales scores by its hidden size per head; files do not say so, only its depth tells.
constexpr int64_t kLayersOf27B = 46;

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
  if (params.num_layers == kLayersOf27B) {
    shape.scale = 1.0f / std::sqrt(static_cast<float>(spec.hidden_dim / params.num_heads));
  }
  for (int64_t i = 0; i < params.num_layers; ++i) {
    shape.window = i % 2 == 0 ? window : 0;
    spec.layers.push_back(layer);
  }
  return Status();
}

}  // namespace adit::models
