// Qwen2 and Qwen2.5 (Yang et al. 2024): Llama's shape with biases on q, k and v.
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {

Status Qwen2FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/false));
  spec.ropes.push_back(std::move(rope));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("attention.sliding_window", 0));
  spec.layers.assign(static_cast<size_t>(params.num_layers), PlainLayer(params));
  return Status();
}

Status Qwen2FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({}));
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/false));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("use_sliding_window", 0.0));
  ADIT_RETURN_IF_ERROR(keys.CheckLayerTypes(params.num_layers, [](int64_t) { return false; }));
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
