// SmolLM3 (Bakouch et al. 2025): Llama's shape, every fourth layer without position encoding (Yang et al. 2025, RNoPE).
#include "models/gguf_keys.h"
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

}  // namespace adit::models
