// GLM-4 of 2025 (GLM-4-0414): norms stand before and after each block, half of each head turns in neighbouring pairs,
// gate and up are one matrix.
#include "models/gguf_keys.h"
#include "models/registry.h"

namespace adit::models {

Status Glm4FromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec));
  ADIT_RETURN_IF_ERROR(keys.RefuseIfThere("rope.dimension_sections"));
  ADIT_ASSIGN_OR_RETURN(nn::RopeConfig rope, keys.ReadRope(params, /*interleaved=*/true));
  spec.ropes.push_back(std::move(rope));
  LayerSpec layer = PlainLayer(params);
  layer.norms = NormPlaces::kBeforeAndAfter;
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return Status();
}

}  // namespace adit::models
