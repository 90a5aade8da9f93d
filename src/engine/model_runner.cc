#include "engine/model_runner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace adit::engine {

void SequenceCache::Truncate(int64_t num_tokens) {
  ADIT_CHECK(num_tokens >= 0 && num_tokens <= num_tokens_);
  num_tokens_ = num_tokens;
  table_.Truncate(num_tokens);
}

ModelRunner::ModelRunner(const LoadedModel& model, nn::KvLayout layout, int64_t num_blocks)
    : model_(model), layout_(std::move(layout)), pool_(static_cast<int32_t>(num_blocks)) {}

Result<std::unique_ptr<ModelRunner>> ModelRunner::Create(const LoadedModel& model, const RunnerOptions& options) {
  if (options.kv_tokens < 1 || options.max_batch_tokens < 1 || options.block_size < 16 ||
      options.block_size % 16 != 0) {
    return InvalidArgument(
        "runner: kv_tokens {}, max_batch_tokens {} and block_size {}: the first two are at least 1, the "
        "last a multiple of 16",
        options.kv_tokens, options.max_batch_tokens, options.block_size);
  }
  const int64_t num_blocks = (options.kv_tokens + options.block_size - 1) / options.block_size;
  if (num_blocks > INT32_MAX) return InvalidArgument("runner: kv_tokens {} is too large", options.kv_tokens);
  nn::KvLayout layout(model.spec().CacheSpecs(), options.kv_type.value_or(model.kernels().native_kv),
                      options.block_size);
  std::unique_ptr<ModelRunner> runner(new ModelRunner(model, std::move(layout), num_blocks));
  const size_t block_bytes = runner->layout_.block_bytes();
  if (static_cast<size_t>(num_blocks) > SIZE_MAX / 2 / block_bytes) {
    return ResourceExhausted("KV cache: {} pages of {} bytes cannot be addressed", num_blocks, block_bytes);
  }
  ADIT_ASSIGN_OR_RETURN(runner->kv_memory_,
                        AlignedBuffer::Allocate(static_cast<size_t>(num_blocks) * block_bytes, "KV cache"));
  ADIT_ASSIGN_OR_RETURN(runner->forward_, models::ForwardPass::Create(model.spec(), model.weights(), runner->layout_,
                                                                      model.exec_context(), options.max_batch_tokens));
  return runner;
}

int64_t ModelRunner::kv_capacity_tokens() const { return int64_t{pool_.num_blocks()} * layout_.block_size(); }

SequenceCache ModelRunner::NewSequence() { return SequenceCache(kv::BlockTable(pool_, layout_.block_size())); }

Status ModelRunner::Validate(std::span<const SequenceStep> steps) const {
  int64_t num_tokens = 0;
  for (const SequenceStep& step : steps) {
    if (step.tokens.empty()) return InvalidArgument("runner: a step without tokens");
    num_tokens += static_cast<int64_t>(step.tokens.size());
    for (int32_t token : step.tokens) {
      if (token < 0 || token >= model_.spec().vocab_size) {
        return InvalidArgument("token {} is not in 0..{}", token, model_.spec().vocab_size - 1);
      }
    }
  }
  if (num_tokens < 1 || num_tokens > max_batch_tokens()) {
    return InvalidArgument("runner: a pass of {} tokens; it takes 1 to {}", num_tokens, max_batch_tokens());
  }
  return Status();
}

// All sequences get the pages they need, or none does.
Status ModelRunner::Reserve(std::span<const SequenceStep> steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    SequenceCache& sequence = *steps[i].sequence;
    const int64_t wanted = sequence.num_tokens_ + static_cast<int64_t>(steps[i].tokens.size());
    if (sequence.table_.Reserve(wanted)) continue;
    for (size_t j = 0; j < i; ++j) steps[j].sequence->table_.Truncate(steps[j].sequence->num_tokens_);
    return ResourceExhausted("KV cache: no room for {} tokens of a sequence; {} of {} pages of {} tokens are free",
                             wanted, pool_.num_free(), pool_.num_blocks(), layout_.block_size());
  }
  return Status();
}

Result<std::span<const float>> ModelRunner::Run(std::span<const SequenceStep> steps) {
  ADIT_RETURN_IF_ERROR(Validate(steps));
  ADIT_RETURN_IF_ERROR(Reserve(steps));
  tokens_.clear();
  rows_.clear();
  logit_rows_.clear();
  for (const SequenceStep& step : steps) {
    const int64_t row_begin = static_cast<int64_t>(tokens_.size());
    const int64_t num_rows = static_cast<int64_t>(step.tokens.size());
    rows_.push_back({.row_begin = row_begin,
                     .num_rows = num_rows,
                     .first_position = step.sequence->num_tokens_,
                     .block_table = step.sequence->table_.ids()});
    tokens_.insert(tokens_.end(), step.tokens.begin(), step.tokens.end());
    if (step.logits == LogitsWanted::kNone) continue;
    const int64_t first_logit_row = step.logits == LogitsWanted::kAll ? 0 : num_rows - 1;
    for (int64_t row = first_logit_row; row < num_rows; ++row) logit_rows_.push_back(row_begin + row);
  }
  logits_.resize(logit_rows_.size() * static_cast<size_t>(model_.spec().vocab_size));
  forward_->Run({.tokens = tokens_, .sequences = rows_, .logit_rows = logit_rows_}, kv_memory_.data(), logits_.data());
  for (const SequenceStep& step : steps) step.sequence->num_tokens_ += static_cast<int64_t>(step.tokens.size());
  return std::span<const float>(logits_);
}

}  // namespace adit::engine
