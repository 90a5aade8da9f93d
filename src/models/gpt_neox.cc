// GPT-NeoX and Pythia (Black et al. 2022, Biderman et al. 2023): attention and feed-forward read the same residual
// through norms of their own, a part of each head turns, the feed-forward is plain with the exact GELU.
#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {

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

}  // namespace adit::models
