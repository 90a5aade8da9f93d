#include "engine/model_runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace adit::engine {

void SequenceCache::Truncate(int64_t num_tokens) {
  ADIT_CHECK(num_tokens >= 0 && num_tokens <= num_tokens_);
  num_tokens_ = num_tokens;
  pages_.Truncate(num_tokens);
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
  if (!model.spec().output.logits || model.spec().NeedsWholeSequences()) {
    return Unsupported("{}: this {} model makes embeddings (adit embed), not text", model.path(),
                       model.spec().architecture);
  }
  const kernels::KvType native = model.kernels().native_kv;
  nn::KvLayout layout(model.spec().CacheSpecs(), options.kv_types.k.value_or(native),
                      options.kv_types.v.value_or(native), options.block_size);
  const auto num_groups = static_cast<int64_t>(layout.num_groups());
  const int64_t blocks_per_group = (options.kv_tokens - 1) / options.block_size + 1;
  if (blocks_per_group > INT32_MAX / num_groups) {
    return InvalidArgument("runner: kv_tokens {} is too large", options.kv_tokens);
  }
  const int64_t num_blocks = blocks_per_group * num_groups;
  std::unique_ptr<ModelRunner> runner(new ModelRunner(model, std::move(layout), num_blocks));
  const size_t block_bytes = runner->layout_.block_bytes();
  if (static_cast<size_t>(num_blocks) > SIZE_MAX / 2 / block_bytes) {
    return ResourceExhausted("KV cache: {} pages of {} bytes cannot be addressed", num_blocks, block_bytes);
  }
  ADIT_ASSIGN_OR_RETURN(runner->kv_memory_,
                        AlignedBuffer::Allocate(static_cast<size_t>(num_blocks) * block_bytes, "KV cache"));
  nn::ExecContext context = model.exec_context();
  context.observer = options.observer;
  ADIT_ASSIGN_OR_RETURN(runner->forward_, models::ForwardPass::Create(model.spec(), model.weights(), runner->layout_,
                                                                      context, options.max_batch_tokens));
  return runner;
}

int64_t ModelRunner::kv_capacity_tokens() const {
  return int64_t{pool_.num_blocks()} / static_cast<int64_t>(layout_.num_groups()) * layout_.block_size();
}

SequenceCache ModelRunner::NewSequence() { return SequenceCache(kv::SequencePages(pool_, page_groups())); }

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
    if (sequence.pages_.Reserve(wanted)) continue;
    for (size_t j = 0; j < i; ++j) steps[j].sequence->pages_.Truncate(steps[j].sequence->num_tokens_);
    return ResourceExhausted("KV cache: no room for {} tokens of a sequence; {} of {} pages of {} tokens are free",
                             wanted, pool_.num_free(), pool_.num_blocks(), layout_.block_size());
  }
  return Status();
}

Result<std::span<const float>> ModelRunner::Run(std::span<const SequenceStep> steps) {
  ADIT_RETURN_IF_ERROR(Validate(steps));
  ADIT_RETURN_IF_ERROR(Reserve(steps));
  steps_.clear();
  for (const SequenceStep& step : steps) {
    steps_.push_back({.tokens = step.tokens,
                      .first_position = step.sequence->num_tokens_,
                      .block_tables = step.sequence->pages_.block_tables(),
                      .is_long = step.is_long,
                      .logits = step.logits});
  }
  const std::span<const float> logits = Execute(steps_);
  for (const SequenceStep& step : steps) step.sequence->num_tokens_ += static_cast<int64_t>(step.tokens.size());
  return logits;
}

std::span<const float> ModelRunner::Execute(std::span<const StepRows> steps) {
  size_t num_logit_rows = 0;
  for (const StepRows& step : steps) {
    if (step.logits == LogitsWanted::kLast) ++num_logit_rows;
    if (step.logits == LogitsWanted::kAll) num_logit_rows += step.tokens.size();
  }
  const auto vocab_size = static_cast<size_t>(model_.spec().vocab_size);
  if (logits_.size() < num_logit_rows * vocab_size) logits_.resize(num_logit_rows * vocab_size);
  float* logits = logits_.data();
  for (const StepRows& step : steps) {
    const auto num_tokens = static_cast<int64_t>(step.tokens.size());
    for (int64_t done = 0; done < num_tokens;) {
      const int64_t room = max_batch_tokens() - static_cast<int64_t>(tokens_.size());
      const int64_t count = std::min(room, num_tokens - done);
      AddRows(step, count, done);
      done += count;
      if (static_cast<int64_t>(tokens_.size()) == max_batch_tokens()) logits += RunPass(logits);
    }
  }
  if (!tokens_.empty()) RunPass(logits);
  return {logits_.data(), num_logit_rows * vocab_size};
}

// Adds tokens [done, done + num_tokens) of `step` to the present pass.
void ModelRunner::AddRows(const StepRows& step, int64_t num_tokens, int64_t done) {
  const auto row_begin = static_cast<int64_t>(tokens_.size());
  rows_.push_back({.row_begin = row_begin,
                   .num_rows = num_tokens,
                   .first_position = step.first_position + done,
                   .block_tables = step.block_tables,
                   .long_rope = step.is_long});
  const auto tokens = step.tokens.subspan(static_cast<size_t>(done), static_cast<size_t>(num_tokens));
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  const bool holds_last = done + num_tokens == static_cast<int64_t>(step.tokens.size());
  const int64_t num_logits = step.logits == LogitsWanted::kAll                  ? num_tokens
                             : step.logits == LogitsWanted::kLast && holds_last ? 1
                                                                                : 0;
  for (int64_t row = num_tokens - num_logits; row < num_tokens; ++row) logit_rows_.push_back(row_begin + row);
  pass_rows_.push_back(
      {.num_tokens = num_tokens, .first_position = rows_.back().first_position, .num_logits = num_logits});
}

// Runs the present pass and begins another; returns how many logits it has written.
int64_t ModelRunner::RunPass(float* logits) {
  const int64_t num_logits = static_cast<int64_t>(logit_rows_.size()) * model_.spec().vocab_size;
  forward_->Run({.tokens = tokens_, .sequences = rows_, .logit_rows = logit_rows_}, kv_memory_.data(), logits);
  work_ += plan::WorkOf(model_.spec(), model_.weights(), layout_, pass_rows_);
  tokens_.clear();
  rows_.clear();
  logit_rows_.clear();
  pass_rows_.clear();
  return num_logits;
}

void ModelRunner::CopyPages(std::span<const kv::BlockCopy> copies) {
  const size_t bytes = layout_.block_bytes();
  for (const kv::BlockCopy& copy : copies) {
    std::memcpy(kv_memory_.data() + static_cast<size_t>(copy.to) * bytes,
                kv_memory_.data() + static_cast<size_t>(copy.from) * bytes, bytes);
  }
}

}  // namespace adit::engine
