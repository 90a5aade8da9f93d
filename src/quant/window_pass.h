#ifndef ADIT_QUANT_WINDOW_PASS_H_
#define ADIT_QUANT_WINDOW_PASS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "formats/weight_source.h"
#include "models/forward.h"
#include "models/model_spec.h"
#include "models/weights.h"
#include "nn/exec_context.h"
#include "nn/kv_cache.h"

namespace adit::quant {

// The layers of `spec` from `first` on, and what comes after them, as a model of their own.
models::ModelSpec LayersFrom(const models::ModelSpec& spec, size_t first);

// What comes into the first layer of a pass.
enum class WindowInput : uint8_t {
  kTokens,  // embeddings of tokens
  kHidden,  // hidden states, [window, hidden_dim], that other layers have passed on
};

// Runs windows of text, each by itself and whole, through a model or a part of one.
class WindowPass {
 public:
  // Of windows of `window` tokens, at most as many as the vocabulary has. `weights` are those of the layers of `spec`;
  // somebody else keeps the memory that they point to. ResourceExhausted for memory.
  static Result<std::unique_ptr<WindowPass>> Create(models::ModelSpec spec, models::ModelWeights weights,
                                                    WindowInput input, int64_t window, const nn::ExecContext& context);

  const models::ModelWeights& weights() const { return weights_; }
  // The first layer; what takes its place has the same shapes. Not while a pass runs.
  models::LayerWeights& first_layer() { return weights_.layers.front(); }

  // The logits [rows, vocab_size] of some rows, increasing. `hidden` is read with kHidden, `tokens` [window] with the
  // other.
  void RunLogits(std::span<const int32_t> tokens, const float* hidden, std::span<const int64_t> rows, float* logits);
  // What comes out of the last layer, [window, hidden_dim].
  void RunHidden(std::span<const int32_t> tokens, const float* hidden, float* out);

 private:
  WindowPass(models::ModelSpec spec, models::ModelWeights weights, WindowInput input, int64_t window);
  nn::ForwardBatch Batch(std::span<const int32_t> tokens, const float* hidden, std::span<const int64_t> rows);

  const WindowInput input_;
  // Hidden states are read as a table of embeddings with a row for each position.
  formats::TensorInfo hidden_info_;
  std::vector<int32_t> positions_;

  models::ModelSpec spec_;
  models::ModelWeights weights_;
  nn::KvLayout layout_;
  std::vector<std::vector<int32_t>> pages_;  // of each group of the layout
  std::vector<std::span<const int32_t>> tables_;
  std::vector<int64_t> all_rows_;
  nn::SequenceRows sequence_;

  AlignedBuffer kv_;
  std::unique_ptr<models::ForwardPass> forward_;
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_WINDOW_PASS_H_
