#ifndef ADIT_NN_FEED_FORWARD_H_
#define ADIT_NN_FEED_FORWARD_H_

#include <cstdint>

#include "base/worker_team.h"
#include "nn/linear.h"
#include "nn/pass.h"

namespace adit::nn {

using kernels::Activation;

// down(activation(gate(x)) * up(x)) (Shazeer 2020).
struct GatedFeedForwardConfig {
  int64_t ffn_dim = 0;
  Activation activation = Activation::kSilu;
};

struct GatedFeedForwardWeights {
  Linear gate, up, down;
};

// down(activation(up(x))) (Vaswani et al. 2017).
struct PlainFeedForwardConfig {
  int64_t ffn_dim = 0;
  Activation activation = Activation::kGeluTanh;
};

struct PlainFeedForwardWeights {
  Linear up, down;
};

// The feed-forward of Workspace::normed.
void RunGatedFeedForward(Worker& worker, const Pass& pass, const GatedFeedForwardConfig& config,
                         const GatedFeedForwardWeights& weights, BlockOutput output);
void RunPlainFeedForward(Worker& worker, const Pass& pass, const PlainFeedForwardConfig& config,
                         const PlainFeedForwardWeights& weights, BlockOutput output);

}  // namespace adit::nn

#endif  // ADIT_NN_FEED_FORWARD_H_
