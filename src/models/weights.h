#ifndef ADIT_MODELS_WEIGHTS_H_
#define ADIT_MODELS_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "formats/weight_source.h"
#include "models/model_spec.h"
#include "nn/exec_context.h"
#include "nn/linear.h"
#include "nn/norm.h"

namespace adit::models {

using MixerWeights = std::variant<nn::AttentionBlockWeights>;
using FeedForwardWeights = std::variant<nn::GatedFeedForwardWeights, nn::PlainFeedForwardWeights>;

// Norms over hidden_dim; those that the layer's NormPlaces has no place for are empty.
struct LayerWeights {
  nn::Norm mixer_norm, feed_forward_norm;            // of what a block reads
  nn::Norm post_mixer_norm, post_feed_forward_norm;  // of what it gives, or of the residual after it
  MixerWeights mixer;
  FeedForwardWeights feed_forward;
};

// A table of embeddings, of which the checkpoint keeps the rows: they are read one at a time.
struct EmbeddingTable {
  const formats::WeightSource* source = nullptr;
  const formats::TensorInfo* tensor = nullptr;
  const std::byte* rows = nullptr;  // of a tensor that is computed: all of them, computed once

  // Writes row `row`, widened, to out[row_elements()]. `room` has the size of `out`, and its contents are lost.
  void ReadRow(int64_t row, float* room, float* out) const;
};

// Products of weights with one token.
struct ProductCount {
  size_t weight_bytes = 0;  // as packed: what they read
  int64_t q8 = 0;           // with 8-bit codes of activations
  int64_t bf16 = 0;         // with BF16
  int64_t f32 = 0;          // with floats

  ProductCount& operator+=(const ProductCount& other);
};
ProductCount ProductsOf(const nn::PackedMatrix& matrix);

// Called now and then while weights are packed, with the share that is done, 0 to 1. An error ends the loading with it.
using LoadProgress = std::function<Status(double share)>;

// Of a classifier; read once for a text, so they stay floats. Biases are empty where there are none.
struct ClassifierWeights {
  std::vector<float> dense, dense_bias;  // [hidden_dim, hidden_dim], [hidden_dim]
  std::vector<float> out, out_bias;      // [num_labels, hidden_dim], [num_labels]
};

// The weights of one model, ready to multiply. Immutable once loaded.
struct ModelWeights {
  std::shared_ptr<const formats::WeightSource> source;  // embeddings, and all that is not packed, stay in its mapping
  AlignedBuffer packed;
  std::vector<AlignedBuffer> in_place;  // rows that are read as they are and that the source does not hold so
  EmbeddingTable embedding;             // [vocab_size, hidden_dim]
  EmbeddingTable positions;             // [context_length, hidden_dim] with learned positions
  std::vector<float> token_types;       // [number of types, hidden_dim], where there are types
  nn::Norm embedding_norm;              // empty: none
  std::vector<LayerWeights> layers;
  nn::Norm final_norm;           // empty: none
  nn::Linear output;             // [vocab_size, hidden_dim]; the embedding's own rows where the checkpoint ties them
  ClassifierWeights classifier;  // empty: the model is none
  ProductCount layer_products;   // of all layers
  ProductCount output_products;  // of `output`
  bool two_terms = false;        // whether 8-bit activations have second terms (kernels/matmul.h),
  float least_outlier = 0.0f;    // and in which blocks (nn/workspace.h)
};

// Calls `take` with every matrix that activations are multiplied by, and the name of its tensor in a GGUF file where
// each has one of its own: "blk.0.attn_q.weight". The one that gives the logits comes last.
using LinearFunction = std::function<void(const std::string& name, const nn::Linear& linear)>;
void ForEachLinear(const ModelWeights& weights, const LinearFunction& take);

// Which blocks of activations products read in two 8-bit terms (kernels/matmul.h) where the weights are quantised.
enum class ActivationTerms : uint8_t {
  kOne,       // none: the fastest prefill
  kOutliers,  // those whose codes a large number coarsens
  kTwo,       // all: close to float activations
};

// Outliers for models with narrow rows, which rounding to 8 bits harms most; one for the others.
ActivationTerms ActivationTermsFor(const ModelSpec& spec);

// Finds every tensor that `spec` asks for under its GGUF name, checks type and shape, and packs it for the kernels.
// Matrices of one input that the checkpoint holds as one, q, k and v or gate and up, are taken apart by rows. Corrupt
// for a tensor that is missing or has another shape, Unsupported for tensors that the spec has no place for: both by
// name. Pages of the file are let go as they are packed, so that peak memory stays near the size of the file.
Result<ModelWeights> LoadWeights(const ModelSpec& spec, std::shared_ptr<const formats::WeightSource> source,
                                 const nn::ExecContext& context, ActivationTerms terms, const LoadProgress& progress);

// Layer `index` of `spec` and the embedding alone, as the model of one layer that OneLayer(spec, index) describes. What
// else the source has stays unread.
ModelSpec OneLayer(const ModelSpec& spec, size_t index);
Result<ModelWeights> LoadLayer(const ModelSpec& spec, size_t index, std::shared_ptr<const formats::WeightSource> source,
                               const nn::ExecContext& context, ActivationTerms terms);

}  // namespace adit::models

#endif  // ADIT_MODELS_WEIGHTS_H_
