#include "models/model_spec.h"

#include <algorithm>

namespace adit::models {

int64_t ModelSpec::ShortRopeLength() const {
  for (const nn::RopeConfig& rope : ropes) {
    if (!rope.long_divisors.empty()) return static_cast<int64_t>(rope.original_context);
  }
  return 0;
}

bool ModelSpec::NeedsWholeSequences() const {
  return std::ranges::any_of(
      layers, [](const LayerSpec& layer) { return !std::get<nn::AttentionBlockConfig>(layer.mixer).shape.causal; });
}

std::vector<nn::CacheSpec> ModelSpec::CacheSpecs() const {
  std::vector<nn::CacheSpec> specs;
  for (const LayerSpec& layer : layers) {
    const nn::AttentionConfig& shape = std::get<nn::AttentionBlockConfig>(layer.mixer).shape;
    specs.push_back(
        {.num_kv_heads = shape.num_kv_heads, .k_dim = shape.k_dim, .v_dim = shape.v_dim, .window = shape.window});
  }
  return specs;
}

}  // namespace adit::models
