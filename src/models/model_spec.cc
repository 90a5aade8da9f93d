#include "models/model_spec.h"

namespace adit::models {

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
