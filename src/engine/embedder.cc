#include "engine/embedder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "models/classifier.h"

namespace adit::engine {
namespace {

constexpr int kEmbedderBlockSize = 16;

int64_t Size(const std::vector<int32_t>& text) { return static_cast<int64_t>(text.size()); }

}  // namespace

Embedder::Embedder(const models::ModelSpec& spec, const models::ClassifierWeights& classifier, nn::KvLayout layout,
                   const EmbedderOptions& options)
    : spec_(spec), classifier_(classifier), layout_(std::move(layout)), options_(options) {}

Result<std::unique_ptr<Embedder>> Embedder::Create(const models::ModelSpec& spec, const models::ModelWeights& weights,
                                                   const nn::ExecContext& context, const EmbedderOptions& options) {
  nn::KvLayout layout(spec.CacheSpecs(), options.kv_types.k.value_or(kernels::KvType::kF32),
                      options.kv_types.v.value_or(kernels::KvType::kF32), kEmbedderBlockSize);
  std::unique_ptr<Embedder> embedder(new Embedder(spec, weights.classifier, std::move(layout), options));
  int64_t max_tokens = std::max<int64_t>(1, options.max_batch_tokens);
  if (spec.NeedsWholeSequences()) max_tokens = std::max(max_tokens, spec.context_length);
  ADIT_ASSIGN_OR_RETURN(embedder->forward_,
                        models::ForwardPass::Create(spec, weights, embedder->layout_, context, max_tokens));
  return embedder;
}

Status Embedder::Check(std::span<const std::vector<int32_t>> texts) const {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return InvalidArgument("text {} has no tokens", i);
    if (Size(texts[i]) > spec_.context_length) {
      return InvalidArgument("text {} has {} tokens; the model takes {}", i, Size(texts[i]), spec_.context_length);
    }
    for (const int32_t token : texts[i]) {
      if (token < 0 || token >= spec_.vocab_size) {
        return InvalidArgument("text {}: token {} is not in 0..{}", i, token, spec_.vocab_size - 1);
      }
    }
  }
  return Status();
}

Result<std::vector<std::vector<float>>> Embedder::Embed(std::span<const std::vector<int32_t>> texts) {
  const std::vector<EmbeddingForm> forms(texts.size(), {.pooling = options_.pooling, .normalize = options_.normalize});
  return Embed(texts, forms);
}

Result<std::vector<std::vector<float>>> Embedder::Embed(std::span<const std::vector<int32_t>> texts,
                                                        std::span<const EmbeddingForm> forms) {
  ADIT_CHECK(forms.size() == texts.size());
  ADIT_RETURN_IF_ERROR(Check(texts));
  const bool classifies = spec_.classifier.num_labels > 0;
  for (const EmbeddingForm& form : forms) {
    if (form.pooling == Pooling::kRank && !classifies) return InvalidArgument("the model is no classifier");
  }
  std::vector<Pooler> poolers;
  poolers.reserve(texts.size());
  for (const EmbeddingForm& form : forms) poolers.emplace_back(form.pooling, spec_.hidden_dim);
  for (size_t begin = 0; begin < texts.size();) {
    // As many texts as a pass takes; one that is longer runs by itself.
    size_t end = begin + 1;
    int64_t num_tokens = Size(texts[begin]);
    while (end < texts.size() && num_tokens + Size(texts[end]) <= max_batch_tokens()) num_tokens += Size(texts[end++]);
    ADIT_RETURN_IF_ERROR(ReserveKv(texts, begin, end));
    RunTexts(texts, forms, begin, end, poolers);
    begin = end;
  }
  std::vector<std::vector<float>> embeddings;
  for (size_t i = 0; i < poolers.size(); ++i) {
    const bool ranks = forms[i].pooling == Pooling::kRank;
    std::vector<float> pooled = poolers[i].Finish(forms[i].normalize && !ranks);
    embeddings.push_back(ranks ? models::Classify(classifier_, pooled) : std::move(pooled));
  }
  return embeddings;
}

// Pages in the order of texts; memory grows with the longest that came.
Status Embedder::ReserveKv(std::span<const std::vector<int32_t>> texts, size_t begin, size_t end) {
  block_tables_.clear();
  int32_t num_blocks = 0;
  for (size_t text = begin; text < end; ++text) {
    const int64_t blocks_per_group = (Size(texts[text]) - 1) / kEmbedderBlockSize + 1;
    for (size_t group = 0; group < layout_.num_groups(); ++group) {
      std::vector<int32_t>& table = block_tables_.emplace_back(static_cast<size_t>(blocks_per_group));
      std::iota(table.begin(), table.end(), num_blocks);
      num_blocks += static_cast<int32_t>(blocks_per_group);
    }
  }
  block_table_views_.assign(block_tables_.begin(), block_tables_.end());
  const size_t bytes = static_cast<size_t>(num_blocks) * layout_.block_bytes();
  if (bytes <= kv_memory_.size_bytes()) return Status();
  kv_memory_ = AlignedBuffer();
  ADIT_ASSIGN_OR_RETURN(kv_memory_, AlignedBuffer::Allocate(bytes, "keys and values of texts"));
  return Status();
}

void Embedder::RunTexts(std::span<const std::vector<int32_t>> texts, std::span<const EmbeddingForm> forms, size_t begin,
                        size_t end, std::vector<Pooler>& poolers) {
  if (end - begin > 1) {
    std::vector<Stretch> stretches;
    for (size_t text = begin; text < end; ++text) {
      stretches.push_back({.text = text, .first_position = 0, .num_rows = Size(texts[text])});
    }
    RunPass(texts, forms, begin, stretches, poolers);
    return;
  }
  for (int64_t done = 0; done < Size(texts[begin]); done += max_batch_tokens()) {
    const Stretch stretch = {
        .text = begin, .first_position = done, .num_rows = std::min(max_batch_tokens(), Size(texts[begin]) - done)};
    RunPass(texts, forms, begin, std::span(&stretch, 1), poolers);
  }
}

void Embedder::RunPass(std::span<const std::vector<int32_t>> texts, std::span<const EmbeddingForm> forms,
                       size_t first_text, std::span<const Stretch> stretches, std::vector<Pooler>& poolers) {
  std::vector<int32_t> tokens;
  std::vector<nn::SequenceRows> sequences;
  for (const Stretch& stretch : stretches) {
    const std::vector<int32_t>& text = texts[stretch.text];
    const size_t first_table = (stretch.text - first_text) * layout_.num_groups();
    sequences.push_back({.row_begin = static_cast<int64_t>(tokens.size()),
                         .num_rows = stretch.num_rows,
                         .first_position = stretch.first_position,
                         .block_tables = std::span(block_table_views_).subspan(first_table, layout_.num_groups()),
                         .second_text = forms[stretch.text].second_text,
                         .long_rope = spec_.IsLong(Size(text))});
    const auto rows =
        std::span(text).subspan(static_cast<size_t>(stretch.first_position), static_cast<size_t>(stretch.num_rows));
    tokens.insert(tokens.end(), rows.begin(), rows.end());
  }
  std::vector<int64_t> all_rows(tokens.size());
  std::iota(all_rows.begin(), all_rows.end(), 0);
  hidden_.resize(tokens.size() * static_cast<size_t>(spec_.hidden_dim));
  forward_->RunHidden({.tokens = tokens, .sequences = sequences, .logit_rows = all_rows}, kv_memory_.data(),
                      hidden_.data());
  for (size_t i = 0; i < stretches.size(); ++i) {
    for (int64_t row = 0; row < stretches[i].num_rows; ++row) {
      poolers[stretches[i].text].Add(hidden_.data() + (sequences[i].row_begin + row) * spec_.hidden_dim);
    }
  }
}

}  // namespace adit::engine
