#ifndef ADIT_MODELS_WEIGHTS_H_
#define ADIT_MODELS_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "formats/weight_source.h"
#include "models/model_spec.h"
#include "nn/exec_context.h"
#include "nn/linear.h"

namespace adit::models {

using MixerWeights = std::variant<nn::AttentionBlockWeights>;
using FeedForwardWeights = std::variant<nn::GatedFeedForwardWeights>;

struct LayerWeights {
  std::vector<float> mixer_norm, feed_forward_norm;            // [hidden_dim]
  std::vector<float> post_mixer_norm, post_feed_forward_norm;  // [hidden_dim] with post_norms, else empty
  MixerWeights mixer;
  FeedForwardWeights feed_forward;
};

// The table of embeddings, read in place from the checkpoint, a row at a time.
struct EmbeddingTable {
  DType dtype = DType::kF32;
  const std::byte* rows = nullptr;  // [vocab_size] rows of row_bytes
  size_t row_bytes = 0;
};

// Called now and then while weights are packed, with the share that is done, 0 to 1.
using LoadProgress = std::function<void(double)>;

// The weights of one model, ready to multiply. Immutable once loaded.
struct ModelWeights {
  std::shared_ptr<const formats::WeightSource> source;  // embeddings, and all that is not packed, stay in its mapping
  AlignedBuffer packed;
  std::vector<AlignedBuffer> in_place;  // rows that are read as they are and that the source does not hold so
  EmbeddingTable embedding;
  std::vector<LayerWeights> layers;
  std::vector<float> final_norm;  // [hidden_dim]
  nn::Linear output;              // [vocab_size, hidden_dim]; the embedding's own rows where the checkpoint ties them
  size_t weight_bytes = 0;        // that a token of one sequence reads
};

// Which products read their input in two 8-bit terms (nn/linear.h) where the weights are quantised.
enum class ActivationTerms : uint8_t {
  kOne,     // none: the fastest prefill
  kNormed,  // those of normed rows: q, k, v, gate, up, output
  kTwo,     // all: close to float activations
};

// Two for models with narrow rows, which rounding to 8 bits harms most and which run fast anyhow; one for the others.
ActivationTerms ActivationTermsFor(const ModelSpec& spec);

// Finds every tensor that `spec` asks for under its GGUF name, checks type and shape, and packs it for the kernels.
// Corrupt for a tensor that is missing or has another shape, Unsupported for tensors that the spec has no place for:
// both by name. Pages of the file are let go as they are packed, so that peak memory stays near the size of the file.
Result<ModelWeights> LoadWeights(const ModelSpec& spec, std::shared_ptr<const formats::WeightSource> source,
                                 const nn::ExecContext& context, ActivationTerms terms, const LoadProgress& progress);

}  // namespace adit::models

#endif  // ADIT_MODELS_WEIGHTS_H_
