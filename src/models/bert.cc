// BERT (Devlin et al. 2018): an encoder. Every token sees all others, positions are learned, the residual itself is
// normed after each block, and there are no logits.
#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {

Status BertFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec, nn::NormKind::kLayer));
  spec.embedding = {.learned_positions = true, .token_type = true, .norm = true};
  spec.output = {.norm = false, .logits = false};
  LayerSpec layer = PlainLayer(params);
  layer.norms = NormPlaces::kOfResidual;
  auto& attention = std::get<nn::AttentionBlockConfig>(layer.mixer);
  attention.rope = -1;
  attention.shape.causal = false;
  layer.feed_forward = nn::PlainFeedForwardConfig{.ffn_dim = params.ffn_dim, .activation = nn::Activation::kGeluErf};
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

}  // namespace adit::models
