// StarCoder2 (Lozhkov et al. 2024): layer norms, biases everywhere, a plain feed-forward.
#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {

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

}  // namespace adit::models
