// SmolLM3 (Bakouch et al. 2025): Llama's shape, every fourth layer without position encoding (Yang et al. 2025, RNoPE).
#include "base/error.h"
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

constexpr size_t kNoRopeInterval = 4;

}  // namespace

Status SmolLm3FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/true));
  spec.ropes.push_back(std::move(rope));
  spec.layers.assign(static_cast<size_t>(params.num_layers), PlainLayer(params));
  for (size_t i = kNoRopeInterval - 1; i < spec.layers.size(); i += kNoRopeInterval) {
    std::get<nn::AttentionBlockConfig>(spec.layers[i].mixer).rope = -1;
  }
  return Status();
}

Status SmolLm3FromHf(HfKeys& keys) {
  ADIT_ASSIGN_OR_RETURN(const HfHyperparameters params, keys.ReadCommon({.tied = true}));
  keys.AddTensors(LlamaTensorRules(params, /*interleaved=*/true));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("use_sliding_window", 0.0));
  ADIT_RETURN_IF_ERROR(keys.CheckLayerTypes(params.num_layers, [](int64_t) { return false; }));
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("no_rope_layer_interval", static_cast<double>(kNoRopeInterval)));
  if (keys.config().Has("no_rope_layers")) {
    // 1 for a layer with a rope.
    ADIT_ASSIGN_OR_RETURN(const std::vector<double> ropes, keys.config().Floats("no_rope_layers", 0.0, 1.0));
    for (size_t i = 0; i < ropes.size(); ++i) {
      const bool has_rope = i % kNoRopeInterval != kNoRopeInterval - 1;
      if ((ropes[i] == 1.0) == has_rope) continue;
      return Unsupported("{}: no_rope_layers[{}] is {}; this build leaves out every fourth rope", keys.config().where(),
                         i, ropes[i]);
    }
  }
  return keys.ReadRope(params.head_dim);
}

}  // namespace adit::models
