#include "models/layer_joins.h"

namespace adit::models {
namespace {

// Whether something has to be done to a block's output before it joins the residual.
bool WaitsToJoin(const ModelSpec& spec, const LayerSpec& layer) {
  return layer.norms == NormPlaces::kBeforeAndAfter || layer.norms == NormPlaces::kAfter || spec.residual_scale != 1.0f;
}

}  // namespace

nn::BlockOutput MixerOutput(const ModelSpec& spec, const LayerSpec& layer) {
  const bool waits = WaitsToJoin(spec, layer) || layer.feed_forward_input == FeedForwardInput::kBesideMixer;
  return waits ? nn::BlockOutput::kApart : nn::BlockOutput::kAddToResidual;
}

nn::BlockOutput FeedForwardOutput(const ModelSpec& spec, const LayerSpec& layer) {
  return WaitsToJoin(spec, layer) ? nn::BlockOutput::kApart : nn::BlockOutput::kAddToResidual;
}

bool HasEffect(const nn::Join& join) { return join.output == nn::BlockOutput::kApart || join.residual_norm != nullptr; }

nn::Join BeforeMixer(const ModelSpec& model, const ModelWeights& model_weights, size_t layer) {
  nn::Join join = layer == 0 ? nn::Join{} : AfterFeedForward(model, model_weights, layer - 1);
  join.has_next = true;
  join.next_norm = &model_weights.layers[layer].mixer_norm;
  return join;
}

nn::Join BeforeFeedForward(const ModelSpec& model, const ModelWeights& model_weights, size_t layer) {
  const LayerSpec& spec = model.layers[layer];
  const LayerWeights& weights = model_weights.layers[layer];
  const bool of_residual = spec.norms == NormPlaces::kOfResidual;
  return {.output = MixerOutput(model, spec),
          .output_norm = of_residual ? nullptr : &weights.post_mixer_norm,
          .output_scale = model.residual_scale,
          .residual_norm = of_residual ? &weights.post_mixer_norm : nullptr,
          .next_norm = &weights.feed_forward_norm,
          .next_reads_first = spec.feed_forward_input == FeedForwardInput::kBesideMixer};
}

nn::Join AfterFeedForward(const ModelSpec& model, const ModelWeights& model_weights, size_t layer) {
  const LayerSpec& spec = model.layers[layer];
  const LayerWeights& weights = model_weights.layers[layer];
  const bool of_residual = spec.norms == NormPlaces::kOfResidual;
  return {.output = FeedForwardOutput(model, spec),
          .output_norm = of_residual ? nullptr : &weights.post_feed_forward_norm,
          .output_scale = model.residual_scale,
          .residual_norm = of_residual ? &weights.post_feed_forward_norm : nullptr,
          .has_next = false};
}

}  // namespace adit::models
