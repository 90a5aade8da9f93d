#ifndef ADIT_MODELS_CLASSIFIER_H_
#define ADIT_MODELS_CLASSIFIER_H_

#include <span>
#include <vector>

#include "models/weights.h"

namespace adit::models {

// What a classifier says of a text: a number for each label, of the final state [hidden_dim] of its first token. The
// sums are of doubles, in the order of the rows.
std::vector<float> Classify(const ClassifierWeights& weights, std::span<const float> state);

}  // namespace adit::models

#endif  // ADIT_MODELS_CLASSIFIER_H_
