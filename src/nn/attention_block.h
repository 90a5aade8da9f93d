#ifndef ADIT_NN_ATTENTION_BLOCK_H_
#define ADIT_NN_ATTENTION_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/worker_team.h"
#include "nn/attention.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/pass.h"
#include "nn/rope.h"

namespace adit::nn {

// What is normed of the queries, and of the keys, of a row before they turn.
enum class QkNorm : uint8_t {
  kNone,
  kHead,      // each head, all by the same weights: [k_dim]
  kEachHead,  // each head by weights of its own: [num_heads, k_dim]
  kRow,       // all heads as one vector: [num_heads * k_dim]
};

// Softmax attention over paged keys and values, with grouped heads (Vaswani et al. 2017, Ainslie et al. 2023).
struct AttentionBlockConfig {
  AttentionConfig shape;
  int rope = -1;  // which of the model's ropes turns queries and keys; -1: none does
  QkNorm qk_norm = QkNorm::kNone;
};

struct AttentionBlockWeights {
  Linear q, k, v, out;
  Norm q_norm, k_norm;  // as qk_norm says, else empty
};

// Attention of Workspace::normed in layer `layer`: project, norm and turn, store keys and values, attend, project.
// `ropes` are the model's, their angles for this pass already in the workspace.
void RunAttentionBlock(Worker& worker, const Pass& pass, size_t layer, const AttentionBlockConfig& config,
                       const AttentionBlockWeights& weights, std::span<const Rope> ropes, BlockOutput output);

}  // namespace adit::nn

#endif  // ADIT_NN_ATTENTION_BLOCK_H_
