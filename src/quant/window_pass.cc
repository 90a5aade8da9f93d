#include "quant/window_pass.h"

#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace adit::quant {
namespace {

constexpr int kPageTokens = 16;

}  // namespace

models::ModelSpec LayersFrom(const models::ModelSpec& spec, size_t first) {
  models::ModelSpec part = spec;
  part.layers.erase(part.layers.begin(), part.layers.begin() + static_cast<std::ptrdiff_t>(first));
  return part;
}

WindowPass::WindowPass(models::ModelSpec spec, models::ModelWeights weights, WindowInput input, int64_t window)
    : input_(input),
      positions_(static_cast<size_t>(window)),
      spec_(std::move(spec)),
      weights_(std::move(weights)),
      layout_(spec_.CacheSpecs(), kernels::KvType::kF32, kernels::KvType::kF32, kPageTokens),
      all_rows_(static_cast<size_t>(window)) {
  ADIT_CHECK(window <= spec_.vocab_size);
  if (input_ == WindowInput::kHidden) {
    hidden_info_ = {.name = "hidden", .dtype = DType::kF32, .rank = 2, .shape = {window, spec_.hidden_dim, 1, 1}};
    spec_.embedding = {};
    weights_.embedding = {.tensor = &hidden_info_};
    weights_.embedding_norm = {};
    weights_.token_types.clear();
  }
  std::iota(positions_.begin(), positions_.end(), 0);
  std::iota(all_rows_.begin(), all_rows_.end(), int64_t{0});
  const auto num_pages = static_cast<size_t>((window + kPageTokens - 1) / kPageTokens);
  for (size_t group = 0; group < layout_.num_groups(); ++group) {
    std::vector<int32_t>& pages = pages_.emplace_back(num_pages);
    std::iota(pages.begin(), pages.end(), static_cast<int32_t>(group * num_pages));
  }
  for (const std::vector<int32_t>& pages : pages_) tables_.emplace_back(pages);
  sequence_ = {.num_rows = window, .block_tables = tables_, .long_rope = spec_.IsLong(window)};
}

Result<std::unique_ptr<WindowPass>> WindowPass::Create(models::ModelSpec spec, models::ModelWeights weights,
                                                       WindowInput input, int64_t window,
                                                       const nn::ExecContext& context) {
  std::unique_ptr<WindowPass> pass(new WindowPass(std::move(spec), std::move(weights), input, window));
  const size_t num_pages = pass->pages_.size() * pass->pages_.front().size();
  ADIT_ASSIGN_OR_RETURN(pass->kv_, AlignedBuffer::Allocate(num_pages * pass->layout_.block_bytes(), "KV cache"));
  ADIT_ASSIGN_OR_RETURN(pass->forward_,
                        models::ForwardPass::Create(pass->spec_, pass->weights_, pass->layout_, context, window));
  return pass;
}

nn::ForwardBatch WindowPass::Batch(std::span<const int32_t> tokens, const float* hidden,
                                   std::span<const int64_t> rows) {
  if (input_ == WindowInput::kHidden) {
    weights_.embedding.rows = reinterpret_cast<const std::byte*>(hidden);
    tokens = positions_;
  }
  return {.tokens = tokens, .sequences = std::span(&sequence_, 1), .logit_rows = rows};
}

void WindowPass::RunLogits(std::span<const int32_t> tokens, const float* hidden, std::span<const int64_t> rows,
                           float* logits) {
  forward_->Run(Batch(tokens, hidden, rows), kv_.data(), logits);
}

void WindowPass::RunHidden(std::span<const int32_t> tokens, const float* hidden, float* out) {
  forward_->RunHidden(Batch(tokens, hidden, all_rows_), kv_.data(), out);
}

}  // namespace adit::quant
