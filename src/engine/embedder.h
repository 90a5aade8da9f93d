#ifndef ADIT_ENGINE_EMBEDDER_H_
#define ADIT_ENGINE_EMBEDDER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "engine/kv_types.h"
#include "engine/pooling.h"
#include "models/forward.h"
#include "models/model_spec.h"
#include "models/weights.h"
#include "nn/exec_context.h"
#include "nn/kv_cache.h"

namespace adit::engine {

struct EmbedderOptions {
  Pooling pooling = Pooling::kMean;
  bool normalize = false;
  KvTypes kv_types;                // of the keys and values of a pass [f32]
  int64_t max_batch_tokens = 512;  // rows of a pass; as many as the longest text where that cannot be cut
};

// Makes embeddings of texts: the last hidden states of a model, pooled. An embedding is the same bits whatever texts
// run beside it, however it is cut into passes, and on any number of threads. Used by one thread.
class Embedder {
 public:
  // ResourceExhausted when memory cannot be had. What it borrows outlives it.
  static Result<std::unique_ptr<Embedder>> Create(const models::ModelSpec& spec, const models::ModelWeights& weights,
                                                  const nn::ExecContext& context, const EmbedderOptions& options);

  // Rows that a pass takes: so many tokens of texts are best given at once.
  int64_t max_batch_tokens() const { return forward_->max_tokens(); }

  // Whether Embed takes these texts. Any thread.
  Status Check(std::span<const std::vector<int32_t>> texts) const;

  // The embeddings of texts, each given by its tokens, as Pooler::Finish says. InvalidArgument, naming the text by its
  // index, for one without tokens, with more than the model's context, or with one outside the vocabulary, and for
  // kRank with a model that is no classifier; ResourceExhausted when their keys and values find no memory.
  Result<std::vector<std::vector<float>>> Embed(std::span<const std::vector<int32_t>> texts);
  // The same in forms other than the options': one for each text.
  Result<std::vector<std::vector<float>>> Embed(std::span<const std::vector<int32_t>> texts,
                                                std::span<const EmbeddingForm> forms);

 private:
  // Consecutive rows of one text in a pass.
  struct Stretch {
    size_t text;
    int64_t first_position;
    int64_t num_rows;
  };

  Embedder(const models::ModelSpec& spec, const models::ClassifierWeights& classifier, nn::KvLayout layout,
           const EmbedderOptions& options);
  Status ReserveKv(std::span<const std::vector<int32_t>> texts, size_t begin, size_t end);
  // Runs texts [begin, end), whose pages are there, and adds their states to `poolers`.
  void RunTexts(std::span<const std::vector<int32_t>> texts, std::span<const EmbeddingForm> forms, size_t begin,
                size_t end, std::vector<Pooler>& poolers);
  void RunPass(std::span<const std::vector<int32_t>> texts, std::span<const EmbeddingForm> forms, size_t first_text,
               std::span<const Stretch> stretches, std::vector<Pooler>& poolers);

  const models::ModelSpec& spec_;
  const models::ClassifierWeights& classifier_;
  const nn::KvLayout layout_;
  const EmbedderOptions options_;
  std::unique_ptr<models::ForwardPass> forward_;
  AlignedBuffer kv_memory_;
  // Of the texts that are run together: [num_texts * num_groups] block tables, and views of them.
  std::vector<std::vector<int32_t>> block_tables_;
  std::vector<std::span<const int32_t>> block_table_views_;
  std::vector<float> hidden_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_EMBEDDER_H_
