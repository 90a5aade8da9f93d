#ifndef ADIT_NN_ATTENTION_BLOCK_H_
#define ADIT_NN_ATTENTION_BLOCK_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/worker_team.h"
#include "nn/attention.h"
#include "nn/linear.h"
#include "nn/pass.h"
#include "nn/rope.h"

namespace adit::nn {

// Softmax attention over paged keys and values, with grouped heads (Vaswani et al. 2017, Ainslie et al. 2023).
struct AttentionBlockConfig {
  AttentionConfig shape;
  int rope = -1;         // which of the model's ropes turns queries and keys; -1: none does
  bool qk_norm = false;  // RMS norm of each query and key head before the rotation
};

struct AttentionBlockWeights {
  Linear q, k, v, out;
  std::vector<float> q_norm, k_norm;  // [k_dim] with qk_norm, else empty
};

// Attention of Workspace::normed in layer `layer`: project, norm and turn, store keys and values, attend, project.
// `ropes` are the model's, their angles for this pass already in the workspace.
void RunAttentionBlock(Worker& worker, const Pass& pass, size_t layer, const AttentionBlockConfig& config,
                       const AttentionBlockWeights& weights, std::span<const Rope> ropes, float norm_eps,
                       BlockOutput output);

}  // namespace adit::nn

#endif  // ADIT_NN_ATTENTION_BLOCK_H_
