#ifndef ADIT_ENGINE_MODEL_RUNNER_H_
#define ADIT_ENGINE_MODEL_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "engine/loaded_model.h"
#include "kernels/attention.h"
#include "kv/block_pool.h"
#include "kv/block_table.h"
#include "models/forward.h"
#include "nn/kv_cache.h"

namespace adit::engine {

struct RunnerOptions {
  std::optional<kernels::KvType> kv_type;  // unset: what the kernels prefer
  int64_t kv_tokens = 0;           // tokens that the cache holds, all sequences together; rounded up to whole pages
  int64_t max_batch_tokens = 512;  // rows of one pass
  int block_size = 16;             // tokens of a page, a multiple of 16
};

// The past of one sequence: its pages, and how many tokens they hold. Give its pages back by destroying it.
class SequenceCache {
 public:
  explicit SequenceCache(kv::BlockTable table) : table_(std::move(table)) {}

  int64_t num_tokens() const { return num_tokens_; }
  // Forgets all but the first num_tokens.
  void Truncate(int64_t num_tokens);

 private:
  friend class ModelRunner;
  kv::BlockTable table_;
  int64_t num_tokens_ = 0;
};

enum class LogitsWanted : uint8_t { kNone, kLast, kAll };

// What a pass adds to one sequence.
struct SequenceStep {
  SequenceCache* sequence = nullptr;
  std::span<const int32_t> tokens;  // at least one, inside the vocabulary
  LogitsWanted logits = LogitsWanted::kLast;
};

// Runs batches of sequences through a loaded model: the memory of the cache, its pages, and the forward pass. Used by
// one thread.
class ModelRunner {
 public:
  // ResourceExhausted when the cache or the scratch memory cannot be had. `model` outlives the runner.
  static Result<std::unique_ptr<ModelRunner>> Create(const LoadedModel& model, const RunnerOptions& options);

  const LoadedModel& model() const { return model_; }
  int64_t max_batch_tokens() const { return forward_->max_tokens(); }
  int64_t kv_capacity_tokens() const;
  size_t kv_bytes_per_token() const { return layout_.bytes_per_token(); }
  size_t scratch_bytes() const { return forward_->scratch_bytes(); }
  kernels::KvType kv_type() const { return layout_.type(); }
  const kv::BlockPool& pool() const { return pool_; }

  SequenceCache NewSequence();

  // One pass over `steps`, at most max_batch_tokens() tokens together. Returns the wanted logits, [rows, vocab_size] in
  // the order of steps, valid until the next call. ResourceExhausted, with nothing run or taken, when the pages do not
  // suffice; InvalidArgument for a token outside the vocabulary.
  Result<std::span<const float>> Run(std::span<const SequenceStep> steps);

 private:
  ModelRunner(const LoadedModel& model, nn::KvLayout layout, int64_t num_blocks);
  Status Validate(std::span<const SequenceStep> steps) const;
  Status Reserve(std::span<const SequenceStep> steps);

  const LoadedModel& model_;
  nn::KvLayout layout_;
  kv::BlockPool pool_;
  AlignedBuffer kv_memory_;
  std::unique_ptr<models::ForwardPass> forward_;
  // Of the present pass; kept so that a steady state allocates nothing.
  std::vector<int32_t> tokens_;
  std::vector<nn::SequenceRows> rows_;
  std::vector<int64_t> logit_rows_;
  std::vector<float> logits_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MODEL_RUNNER_H_
