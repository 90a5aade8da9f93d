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
#include "engine/kv_types.h"
#include "engine/loaded_model.h"
#include "kernels/attention.h"
#include "kv/block_pool.h"
#include "kv/sequence_pages.h"
#include "models/forward.h"
#include "nn/kv_cache.h"
#include "nn/op_times.h"
#include "plan/model_work.h"

namespace adit::engine {

struct RunnerOptions {
  KvTypes kv_types;
  // Tokens that the cache holds, all sequences together, when no layer has let any go; rounded up to whole pages.
  int64_t kv_tokens = 0;
  int64_t max_batch_tokens = 512;          // rows of one pass
  int block_size = 16;                     // tokens of a page, a multiple of 16
  nn::LinearObserver* observer = nullptr;  // sees the activations of every pass, if any; outlives the runner
};

// The past of one sequence: its pages, and how many tokens they hold. Give its pages back by destroying it.
class SequenceCache {
 public:
  explicit SequenceCache(kv::SequencePages pages) : pages_(std::move(pages)) {}

  int64_t num_tokens() const { return num_tokens_; }
  // Forgets all but the first num_tokens.
  void Truncate(int64_t num_tokens);

 private:
  friend class ModelRunner;
  kv::SequencePages pages_;
  int64_t num_tokens_ = 0;
};

enum class LogitsWanted : uint8_t { kNone, kLast, kAll };

// Tokens to be run for one sequence whose pages somebody else keeps.
struct StepRows {
  std::span<const int32_t> tokens;                         // at least one, inside the vocabulary
  int64_t first_position = 0;                              // the cache holds all before it that the layers still see
  std::span<const std::span<const int32_t>> block_tables;  // [num_groups] of KvLayout, for all of the tokens
  bool is_long = false;                                    // the sequence turns by the long divisors (ModelSpec)
  LogitsWanted logits = LogitsWanted::kLast;
};

// What a pass adds to one sequence.
struct SequenceStep {
  SequenceCache* sequence = nullptr;
  std::span<const int32_t> tokens;  // at least one, inside the vocabulary
  bool is_long = false;             // the sequence turns by the long divisors (ModelSpec), in each of its steps
  LogitsWanted logits = LogitsWanted::kLast;
};

// Runs batches of sequences through a loaded model: the memory of the cache, its pages, and the forward pass. Used by
// one thread.
class ModelRunner {
 public:
  // Unsupported for a model that makes no text; ResourceExhausted when the cache or the scratch memory cannot be had.
  // `model` outlives the runner.
  static Result<std::unique_ptr<ModelRunner>> Create(const LoadedModel& model, const RunnerOptions& options);

  const LoadedModel& model() const { return model_; }
  int64_t max_batch_tokens() const { return forward_->max_tokens(); }
  int64_t kv_capacity_tokens() const;
  size_t kv_bytes_per_token() const { return layout_.bytes_per_token(); }
  size_t scratch_bytes() const { return forward_->scratch_bytes(); }
  // What all passes so far had to read and compute, and where their time went.
  const plan::PassWork& work() const { return work_; }
  const nn::OpSeconds& op_seconds() const { return forward_->op_seconds(); }
  const nn::KvLayout& layout() const { return layout_; }
  kernels::KvType k_type() const { return layout_.k_type(); }
  kernels::KvType v_type() const { return layout_.v_type(); }
  const kv::BlockPool& pool() const { return pool_; }
  kv::BlockPool& pool() { return pool_; }
  // How sequences use the pages of the pool.
  kv::PageGroups page_groups() const { return {.block_size = layout_.block_size(), .windows = layout_.windows()}; }

  SequenceCache NewSequence();

  // One pass over `steps`, at most max_batch_tokens() tokens together. Returns the wanted logits, [rows, vocab_size] in
  // the order of steps, valid until the next call. ResourceExhausted, with nothing run or taken, when the pages do not
  // suffice; InvalidArgument for a token outside the vocabulary.
  Result<std::span<const float>> Run(std::span<const SequenceStep> steps);

  // The same for sequences whose pages are taken already; checks nothing. Rows that are more than a pass takes run in
  // several, one after another. Returns the wanted logits, valid until the next call.
  std::span<const float> Execute(std::span<const StepRows> steps);

  // Copies whole pages, in order.
  void CopyPages(std::span<const kv::BlockCopy> copies);

 private:
  ModelRunner(const LoadedModel& model, nn::KvLayout layout, int64_t num_blocks);
  Status Validate(std::span<const SequenceStep> steps) const;
  Status Reserve(std::span<const SequenceStep> steps);
  void AddRows(const StepRows& step, int64_t num_tokens, int64_t done);
  int64_t RunPass(float* logits);

  const LoadedModel& model_;
  nn::KvLayout layout_;
  kv::BlockPool pool_;
  AlignedBuffer kv_memory_;
  std::unique_ptr<models::ForwardPass> forward_;
  std::vector<StepRows> steps_;  // of Run
  // Of the present pass; kept so that a steady state allocates nothing.
  std::vector<int32_t> tokens_;
  std::vector<nn::SequenceRows> rows_;
  std::vector<plan::PassRows> pass_rows_;  // the same for work_
  std::vector<int64_t> logit_rows_;
  std::vector<float> logits_;
  plan::PassWork work_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MODEL_RUNNER_H_
