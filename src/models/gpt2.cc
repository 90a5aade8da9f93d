// GPT-2 (Radford et al. 2019): learned positions, layer norms, biases everywhere, a plain feed-forward.
#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {

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

}  // namespace adit::models
