// Phi-3 and Phi-4 (Abdin et al. 2024): Llama's shape with a sliding window, q, k and v in one matrix as well as gate
// and up, and, for long contexts, LongRoPE (Ding et al. 2024).
#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {

Status Phi3FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  ADIT_ASSIGN_OR_RETURN(std::get<nn::AttentionBlockConfig>(layer.mixer).shape.window,
                        keys.IntOr("attention.sliding_window", 0, 0, int64_t{1} << 40));
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

}  // namespace adit::models
