#ifndef ADIT_MODELS_FORWARD_H_
#define ADIT_MODELS_FORWARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "adit/status.h"
#include "models/model_spec.h"
#include "models/weights.h"
#include "nn/exec_context.h"
#include "nn/forward_batch.h"
#include "nn/kv_cache.h"
#include "nn/op_times.h"

namespace adit::models {

// Runs batches through one model. Holds the memory of a pass, so it serves one caller at a time; makes no allocation
// once it has seen a batch of each size. What it borrows outlives it.
class ForwardPass {
 public:
  // Passes of at most max_tokens rows. ResourceExhausted when their memory cannot be had.
  static Result<std::unique_ptr<ForwardPass>> Create(const ModelSpec& spec, const ModelWeights& weights,
                                                     const nn::KvLayout& layout, const nn::ExecContext& context,
                                                     int64_t max_tokens);
  ~ForwardPass();

  int64_t max_tokens() const;
  size_t scratch_bytes() const;
  // Where the time of all passes has gone so far.
  const nn::OpSeconds& op_seconds() const;

  // Computes `batch`, writes its keys and values into the pages of `kv_pool` (page 0 of the layout begins there), and
  // the logits of batch.logit_rows into `logits` [num_logit_rows, vocab_size]. Requires: 1 to max_tokens rows, ids
  // inside the vocabulary, block tables long enough; positions below the model's context_length where it has learned
  // them, and whole sequences where it needs them (ModelSpec). The logits of a row depend on its sequence alone, to the
  // bit: not on the other rows, nor on how the sequence was cut into passes, nor on the number of threads.
  void Run(const nn::ForwardBatch& batch, std::byte* kv_pool, float* logits);
  // The same, but gives the last hidden states of batch.logit_rows, normed where the model norms them before its
  // output: [num_logit_rows, hidden_dim].
  void RunHidden(const nn::ForwardBatch& batch, std::byte* kv_pool, float* hidden);
  // The same for rows that another pass has begun: the layers start from `input` [num_tokens, hidden_dim], and the
  // tokens of the batch only say how many rows there are.
  void RunHiddenFrom(const float* input, const nn::ForwardBatch& batch, std::byte* kv_pool, float* hidden);

 private:
  class State;
  explicit ForwardPass(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace adit::models

#endif  // ADIT_MODELS_FORWARD_H_
