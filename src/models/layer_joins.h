#ifndef ADIT_MODELS_LAYER_JOINS_H_
#define ADIT_MODELS_LAYER_JOINS_H_

#include <cstddef>

#include "models/model_spec.h"
#include "models/weights.h"
#include "nn/norm.h"
#include "nn/pass.h"

namespace adit::models {

// What the NormPlaces and the FeedForwardInput of a layer mean for the steps between its blocks.

// Where the mixer's output, or the feed-forward's, goes.
nn::BlockOutput MixerOutput(const ModelSpec& spec, const LayerSpec& layer);
nn::BlockOutput FeedForwardOutput(const ModelSpec& spec, const LayerSpec& layer);

// What comes before the mixer of a layer, which ends the layer before it; what comes between its mixer and its
// feed-forward, unless that reads what the mixer reads; and what comes after the feed-forward of the last layer.
nn::Join BeforeMixer(const ModelSpec& model, const ModelWeights& model_weights, size_t layer);
nn::Join BeforeFeedForward(const ModelSpec& model, const ModelWeights& model_weights, size_t layer);
nn::Join AfterFeedForward(const ModelSpec& model, const ModelWeights& model_weights, size_t layer);

// Whether the join does anything, apart from what the next block reads.
bool HasEffect(const nn::Join& join);

}  // namespace adit::models

#endif  // ADIT_MODELS_LAYER_JOINS_H_
