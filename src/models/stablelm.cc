// StableLM 2 and its kin (Bellagente et al. 2024): layer norms, a part of each head turns. The 12B model also norms
// each query and key head by weights of its own, and its feed-forward reads what attention reads.
#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {

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

}  // namespace adit::models
