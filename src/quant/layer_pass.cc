#include "quant/layer_pass.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "models/forward.h"
#include "nn/kv_cache.h"

namespace adit::quant {
namespace {

constexpr int kBlockSize = 16;

}  // namespace

InputKeeper::InputKeeper(std::span<const nn::Linear* const> watched, int64_t max_tokens) : max_tokens_(max_tokens) {
  for (const nn::Linear* linear : watched) {
    columns_.emplace(linear, std::vector<float>(static_cast<size_t>(linear->matrix.num_cols() * max_tokens)));
  }
}

void InputKeeper::Observe(const Worker& worker, std::span<const nn::LinearJob> jobs,
                          const kernels::ActivationView& rows, int64_t num_tokens) {
  ADIT_CHECK(num_tokens == max_tokens_);
  const nn::Linear* linear = jobs.front().linear;
  const auto kept = columns_.find(linear);
  if (kept == columns_.end()) return;
  const int64_t num_cols = linear->matrix.num_cols();
  const int64_t begin = num_cols * worker.index() / worker.count();
  const int64_t end = num_cols * (worker.index() + 1) / worker.count();
  for (int64_t token = 0; token < num_tokens; ++token) {
    const float* row = rows.f32 + token * rows.f32_stride;
    for (int64_t i = begin; i < end; ++i) kept->second[static_cast<size_t>(i * max_tokens_ + token)] = row[i];
  }
}

LayerPass::LayerPass(const models::ModelSpec& spec, const CalibrationText& text, const nn::ExecContext& context)
    : spec_(spec), text_(text), context_(context) {}

Status LayerPass::Run(const models::ModelWeights& layer, size_t index, nn::LinearObserver* observer, bool advance,
                      const std::function<Status()>& each) {
  ADIT_CHECK(hidden_.empty() == (index == 0));
  const models::ModelSpec one = models::OneLayer(spec_, index);
  const nn::KvLayout layout(one.CacheSpecs(), kernels::KvType::kF32, kernels::KvType::kF32, kBlockSize);
  const auto num_pages = static_cast<size_t>((text_.window + kBlockSize - 1) / kBlockSize);
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer kv, AlignedBuffer::Allocate(num_pages * layout.block_bytes(), "KV cache"));
  std::vector<int32_t> pages(num_pages);
  std::iota(pages.begin(), pages.end(), 0);
  const std::span<const int32_t> table = pages;
  std::vector<int64_t> rows(static_cast<size_t>(text_.window));
  std::iota(rows.begin(), rows.end(), int64_t{0});

  nn::ExecContext context = context_;
  context.observer = observer;
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<models::ForwardPass> pass,
                        models::ForwardPass::Create(one, layer, layout, context, text_.window));
  const auto size = static_cast<size_t>(text_.window * spec_.hidden_dim);
  std::vector<float> out(size);
  if (advance && hidden_.empty()) hidden_.resize(size * static_cast<size_t>(text_.num_windows()));
  const nn::SequenceRows sequence{
      .num_rows = text_.window, .block_tables = std::span(&table, 1), .long_rope = spec_.IsLong(text_.window)};
  for (int64_t window = 0; window < text_.num_windows(); ++window) {
    const nn::ForwardBatch batch{
        .tokens = std::span(text_.tokens).subspan(static_cast<size_t>(window * text_.window), rows.size()),
        .sequences = std::span(&sequence, 1),
        .logit_rows = rows};
    float* hidden = hidden_.data() + static_cast<size_t>(window) * size;
    if (index == 0) {
      pass->RunHidden(batch, kv.data(), out.data());
    } else {
      pass->RunHiddenFrom(hidden, batch, kv.data(), out.data());
    }
    if (advance) std::ranges::copy(out, hidden);
    if (each) ADIT_RETURN_IF_ERROR(each());
  }
  return Status();
}

}  // namespace adit::quant
