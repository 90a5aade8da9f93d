#ifndef ADIT_TESTS_SUPPORT_MODEL_HARNESS_H_
#define ADIT_TESTS_SUPPORT_MODEL_HARNESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "base/worker_team.h"
#include "formats/gguf.h"
#include "kernels/kernel_table.h"
#include "models/forward.h"
#include "models/model_spec.h"
#include "models/weights.h"
#include "nn/kv_cache.h"

namespace adit::test {

// The kernel sets that this machine can run.
std::vector<std::string> AvailableKernelSets();

// A small model with room for one sequence, run straight through ForwardPass. Its pages lie in the pool in a scattered
// order.
class ModelHarness {
 public:
  using AdjustSpec = std::function<void(models::ModelSpec&)>;

  // `adjust` may change what the file says before the weights are loaded.
  static Result<std::unique_ptr<ModelHarness>> Load(const std::string& path, const kernels::KernelTable& kernels,
                                                    int num_threads, const AdjustSpec& adjust = {});
  static Result<std::unique_ptr<ModelHarness>> Load(std::shared_ptr<formats::GgufFile> file,
                                                    const kernels::KernelTable& kernels, int num_threads,
                                                    const AdjustSpec& adjust = {});

  const models::ModelSpec& spec() const { return spec_; }

  // Logits of the positions of `tokens` from `first_logits` on, [rows, vocab_size], when they follow the first
  // `position` tokens of the sequence, which have been run before. Run in chunks of at most `chunk` tokens.
  std::vector<float> Run(std::span<const int32_t> tokens, int64_t position, int64_t chunk, size_t first_logits);

  // Logits of the last token of a new sequence.
  std::vector<float> Last(std::span<const int32_t> tokens, int64_t chunk = kMaxTokens);

  // Last hidden states of all tokens of a new sequence of at most kMaxTokens, [num_tokens, hidden_dim].
  std::vector<float> Hidden(std::span<const int32_t> tokens);

  static constexpr int64_t kMaxTokens = 256;

 private:
  static constexpr int64_t kMaxContext = 512;
  static constexpr int kBlockSize = 16;

  ModelHarness() = default;

  std::shared_ptr<formats::GgufFile> file_;
  models::ModelSpec spec_;
  std::unique_ptr<WorkerTeam> team_;
  models::ModelWeights weights_;
  std::unique_ptr<nn::KvLayout> layout_;
  AlignedBuffer kv_memory_;
  std::vector<std::vector<int32_t>> block_tables_;           // [num_groups]
  std::vector<std::span<const int32_t>> block_table_views_;  // of block_tables_
  std::unique_ptr<models::ForwardPass> forward_;
};

// The id of the largest logit, the lowest where several are equal.
int32_t Argmax(std::span<const float> logits);

}  // namespace adit::test

#endif  // ADIT_TESTS_SUPPORT_MODEL_HARNESS_H_
