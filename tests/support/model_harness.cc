#include "support/model_harness.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/dispatch.h"
#include "models/hf_model.h"
#include "models/registry.h"
#include "nn/exec_context.h"

namespace adit::test {

Result<std::unique_ptr<ModelHarness>> ModelHarness::Load(const std::string& path, const kernels::KernelTable& kernels,
                                                         int num_threads, const AdjustSpec& adjust) {
  ADIT_ASSIGN_OR_RETURN(std::shared_ptr<formats::GgufFile> file, models::OpenModelFiles(path));
  return Load(std::move(file), kernels, num_threads, adjust);
}

Result<std::unique_ptr<ModelHarness>> ModelHarness::Load(std::shared_ptr<formats::GgufFile> file,
                                                         const kernels::KernelTable& kernels, int num_threads,
                                                         const AdjustSpec& adjust) {
  std::unique_ptr<ModelHarness> harness(new ModelHarness());
  harness->file_ = std::move(file);
  ADIT_ASSIGN_OR_RETURN(harness->spec_, models::SpecFromGguf(*harness->file_));
  if (adjust) adjust(harness->spec_);
  ADIT_ASSIGN_OR_RETURN(harness->team_, WorkerTeam::Create(num_threads));
  const nn::ExecContext context{kernels, *harness->team_};
  ADIT_ASSIGN_OR_RETURN(harness->weights_, models::LoadWeights(harness->spec_, harness->file_, context,
                                                               models::ActivationTerms::kOutliers, {}));
  harness->layout_ =
      std::make_unique<nn::KvLayout>(harness->spec_.CacheSpecs(), kernels.native_kv, kernels.native_kv, kBlockSize);
  constexpr int64_t kBlocksPerGroup = kMaxContext / kBlockSize;
  const size_t num_groups = harness->layout_->num_groups();
  const size_t num_blocks = static_cast<size_t>(kBlocksPerGroup) * num_groups;
  const size_t kv_bytes = num_blocks * harness->layout_->block_bytes();
  ADIT_ASSIGN_OR_RETURN(harness->kv_memory_, AlignedBuffer::Allocate(kv_bytes, "test cache"));
  // Slots that were never written hold NaN, in every KV type.
  std::memset(harness->kv_memory_.data(), 0xff, kv_bytes);
  harness->block_tables_.resize(num_groups);
  for (size_t i = 0; i < num_blocks; ++i) {
    harness->block_tables_[i % num_groups].push_back(static_cast<int32_t>((i * 13 + 5) % num_blocks));
  }
  for (const auto& table : harness->block_tables_) harness->block_table_views_.emplace_back(table);
  ADIT_ASSIGN_OR_RETURN(harness->forward_, models::ForwardPass::Create(harness->spec_, harness->weights_,
                                                                       *harness->layout_, context, kMaxTokens));
  return harness;
}

std::vector<float> ModelHarness::Run(std::span<const int32_t> tokens, int64_t position, int64_t chunk,
                                     size_t first_logits) {
  const size_t vocab = static_cast<size_t>(spec_.vocab_size);
  std::vector<float> logits((tokens.size() - first_logits) * vocab);
  const bool is_long = spec_.IsLong(position + static_cast<int64_t>(tokens.size()));
  size_t written = 0;
  for (size_t begin = 0; begin < tokens.size(); begin += static_cast<size_t>(chunk)) {
    const auto part = tokens.subspan(begin, std::min(static_cast<size_t>(chunk), tokens.size() - begin));
    const nn::SequenceRows rows{.num_rows = static_cast<int64_t>(part.size()),
                                .first_position = position + static_cast<int64_t>(begin),
                                .block_tables = block_table_views_,
                                .long_rope = is_long};
    std::vector<int64_t> logit_rows;
    for (size_t i = 0; i < part.size(); ++i) {
      if (begin + i >= first_logits) logit_rows.push_back(static_cast<int64_t>(i));
    }
    forward_->Run({.tokens = part, .sequences = std::span(&rows, 1), .logit_rows = logit_rows}, kv_memory_.data(),
                  logits.data() + written * vocab);
    written += logit_rows.size();
  }
  return logits;
}

std::vector<float> ModelHarness::Last(std::span<const int32_t> tokens, int64_t chunk) {
  return Run(tokens, 0, chunk, tokens.size() - 1);
}

std::vector<float> ModelHarness::Hidden(std::span<const int32_t> tokens) {
  std::vector<float> hidden(tokens.size() * static_cast<size_t>(spec_.hidden_dim));
  const auto num_rows = static_cast<int64_t>(tokens.size());
  const nn::SequenceRows rows{
      .num_rows = num_rows, .block_tables = block_table_views_, .long_rope = spec_.IsLong(num_rows)};
  std::vector<int64_t> all_rows(tokens.size());
  std::iota(all_rows.begin(), all_rows.end(), 0);
  forward_->RunHidden({.tokens = tokens, .sequences = std::span(&rows, 1), .logit_rows = all_rows}, kv_memory_.data(),
                      hidden.data());
  return hidden;
}

int32_t Argmax(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

std::vector<std::string> AvailableKernelSets() {
  std::vector<std::string> names;
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    if (set.available) names.push_back(set.table->name);
  }
  return names;
}

}  // namespace adit::test
