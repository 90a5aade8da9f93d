#include "models/weights.h"

#include <fmt/core.h>

#include <string>

#include "models/tensor_taker.h"

namespace adit::models {
namespace {

// Takes what a spec asks for, by the names that GGUF files have.
class WeightLoader {
 public:
  WeightLoader(const ModelSpec& spec, TensorTaker& taker) : spec_(spec), taker_(taker) {}

  Status TakeAll(ModelWeights& weights);
  Status TakeOneLayer(size_t index, ModelWeights& weights);

 private:
  using Part = TensorTaker::Part;
  // Norms of [rows, cols] numbers.
  Status TakeNorm(const std::string& name, int64_t rows, int64_t cols, nn::Norm& out);
  Status TakeNorm(const std::string& name, nn::Norm& out) { return TakeNorm(name, 1, spec_.hidden_dim, out); }
  // Matrices that read normed rows.
  Status TakeParts(const std::string& joint, const std::vector<Part>& parts);
  Status TakeQkNorms(const std::string& prefix, const nn::AttentionBlockConfig& spec, nn::AttentionBlockWeights& out);
  Status TakeMixer(const std::string& prefix, const nn::AttentionBlockConfig& spec, MixerWeights& out);
  Status TakeFeedForward(const std::string& prefix, const nn::GatedFeedForwardConfig& spec, FeedForwardWeights& out);
  Status TakeFeedForward(const std::string& prefix, const nn::PlainFeedForwardConfig& spec, FeedForwardWeights& out);
  Status TakeNorms(const std::string& prefix, const LayerSpec& layer, LayerWeights& out);
  Status TakeLayer(size_t index, LayerWeights& out);
  Status TakeEmbedding(ModelWeights& weights);
  Status TakeOutput(ModelWeights& weights);
  Status TakeClassifier(ClassifierWeights& weights);

  const ModelSpec& spec_;
  TensorTaker& taker_;
};

Status WeightLoader::TakeNorm(const std::string& name, int64_t rows, int64_t cols, nn::Norm& out) {
  out.kind = spec_.norm_kind;
  out.eps = spec_.norm_eps;
  return taker_.TakeNorm(name, rows, cols, out);
}

Status WeightLoader::TakeParts(const std::string& joint, const std::vector<Part>& parts) {
  return taker_.TakeParts(joint, spec_.hidden_dim, parts);
}

Status WeightLoader::TakeQkNorms(const std::string& prefix, const nn::AttentionBlockConfig& spec,
                                 nn::AttentionBlockWeights& out) {
  if (spec.qk_norm == nn::QkNorm::kNone) return Status();
  const auto take = [&](const char* name, int64_t num_heads, nn::Norm& norm) {
    const int64_t k_dim = spec.shape.k_dim;
    if (spec.qk_norm == nn::QkNorm::kHead) return TakeNorm(prefix + name, 1, k_dim, norm);
    if (spec.qk_norm == nn::QkNorm::kRow) return TakeNorm(prefix + name, 1, num_heads * k_dim, norm);
    return TakeNorm(prefix + name, num_heads, k_dim, norm);
  };
  ADIT_RETURN_IF_ERROR(take("attn_q_norm", spec.shape.num_heads, out.q_norm));
  return take("attn_k_norm", spec.shape.num_kv_heads, out.k_norm);
}

Status WeightLoader::TakeMixer(const std::string& prefix, const nn::AttentionBlockConfig& spec, MixerWeights& out) {
  nn::AttentionBlockWeights& weights = out.emplace<nn::AttentionBlockWeights>();
  const nn::AttentionConfig& shape = spec.shape;
  ADIT_RETURN_IF_ERROR(
      TakeParts(prefix + "attn_qkv", {{prefix + "attn_q", int64_t{shape.num_heads} * shape.k_dim, &weights.q},
                                      {prefix + "attn_k", int64_t{shape.num_kv_heads} * shape.k_dim, &weights.k},
                                      {prefix + "attn_v", int64_t{shape.num_kv_heads} * shape.v_dim, &weights.v}}));
  ADIT_RETURN_IF_ERROR(TakeQkNorms(prefix, spec, weights));
  return taker_.TakeLinear(prefix + "attn_output", spec_.hidden_dim, int64_t{shape.num_heads} * shape.v_dim,
                           weights.out);
}

// Joint, gate and up have up's name and twice its rows.
Status WeightLoader::TakeFeedForward(const std::string& prefix, const nn::GatedFeedForwardConfig& spec,
                                     FeedForwardWeights& out) {
  nn::GatedFeedForwardWeights& weights = out.emplace<nn::GatedFeedForwardWeights>();
  ADIT_RETURN_IF_ERROR(TakeParts(prefix + "ffn_up", {{prefix + "ffn_gate", spec.ffn_dim, &weights.gate},
                                                     {prefix + "ffn_up", spec.ffn_dim, &weights.up}}));
  return taker_.TakeLinear(prefix + "ffn_down", spec_.hidden_dim, spec.ffn_dim, weights.down);
}

Status WeightLoader::TakeFeedForward(const std::string& prefix, const nn::PlainFeedForwardConfig& spec,
                                     FeedForwardWeights& out) {
  nn::PlainFeedForwardWeights& weights = out.emplace<nn::PlainFeedForwardWeights>();
  ADIT_RETURN_IF_ERROR(taker_.TakeLinear(prefix + "ffn_up", spec.ffn_dim, spec_.hidden_dim, weights.up));
  return taker_.TakeLinear(prefix + "ffn_down", spec_.hidden_dim, spec.ffn_dim, weights.down);
}

Status WeightLoader::TakeNorms(const std::string& prefix, const LayerSpec& layer, LayerWeights& out) {
  if (layer.norms == NormPlaces::kOfResidual) {
    ADIT_RETURN_IF_ERROR(TakeNorm(prefix + "attn_output_norm", out.post_mixer_norm));
    return TakeNorm(prefix + "layer_output_norm", out.post_feed_forward_norm);
  }
  if (layer.norms != NormPlaces::kAfter) {
    ADIT_RETURN_IF_ERROR(TakeNorm(prefix + "attn_norm", out.mixer_norm));
    if (layer.feed_forward_input != FeedForwardInput::kAsMixer) {
      ADIT_RETURN_IF_ERROR(TakeNorm(prefix + "ffn_norm", out.feed_forward_norm));
    }
  }
  if (layer.norms == NormPlaces::kBefore) return Status();
  ADIT_RETURN_IF_ERROR(TakeNorm(prefix + "post_attention_norm", out.post_mixer_norm));
  return TakeNorm(prefix + "post_ffw_norm", out.post_feed_forward_norm);
}

Status WeightLoader::TakeLayer(size_t index, LayerWeights& out) {
  const LayerSpec& layer = spec_.layers[index];
  const std::string prefix = fmt::format("blk.{}.", index);
  ADIT_RETURN_IF_ERROR(TakeNorms(prefix, layer, out));
  ADIT_RETURN_IF_ERROR(TakeMixer(prefix, std::get<nn::AttentionBlockConfig>(layer.mixer), out.mixer));
  return std::visit([&](const auto& spec) { return TakeFeedForward(prefix, spec, out.feed_forward); },
                    layer.feed_forward);
}

Status WeightLoader::TakeEmbedding(ModelWeights& weights) {
  ADIT_ASSIGN_OR_RETURN(weights.embedding, taker_.TakeTable("token_embd.weight", spec_.vocab_size, spec_.hidden_dim));
  if (spec_.embedding.learned_positions) {
    ADIT_ASSIGN_OR_RETURN(weights.positions,
                          taker_.TakeTable("position_embd.weight", spec_.context_length, spec_.hidden_dim));
  }
  if (spec_.embedding.token_types) {
    ADIT_RETURN_IF_ERROR(taker_.TakeRows("token_types.weight", spec_.hidden_dim, weights.token_types));
  }
  return spec_.embedding.norm ? TakeNorm("token_embd_norm", weights.embedding_norm) : Status();
}

// A checkpoint without an output matrix ties it to the embedding.
Status WeightLoader::TakeOutput(ModelWeights& weights) {
  if (spec_.output.norm) ADIT_RETURN_IF_ERROR(TakeNorm("output_norm", weights.final_norm));
  if (!spec_.output.logits) return Status();
  if (taker_.Has("output.weight")) {
    return taker_.TakeLinear("output", spec_.vocab_size, spec_.hidden_dim, weights.output);
  }
  return taker_.UseTable("token_embd.weight", weights.output);
}

Status WeightLoader::TakeClassifier(ClassifierWeights& weights) {
  const int64_t num_labels = spec_.classifier.num_labels;
  if (num_labels == 0) return Status();
  ADIT_RETURN_IF_ERROR(taker_.TakeVector("cls.weight", spec_.hidden_dim, spec_.hidden_dim, weights.dense));
  ADIT_RETURN_IF_ERROR(taker_.TakeBias("cls.bias", spec_.hidden_dim, weights.dense_bias));
  ADIT_RETURN_IF_ERROR(taker_.TakeVector("cls.output.weight", num_labels, spec_.hidden_dim, weights.out));
  return taker_.TakeBias("cls.output.bias", num_labels, weights.out_bias);
}

Status WeightLoader::TakeAll(ModelWeights& weights) {
  ADIT_RETURN_IF_ERROR(TakeEmbedding(weights));
  weights.layers.resize(spec_.layers.size());
  for (size_t i = 0; i < spec_.layers.size(); ++i) ADIT_RETURN_IF_ERROR(TakeLayer(i, weights.layers[i]));
  weights.layer_products = taker_.products();
  ADIT_RETURN_IF_ERROR(TakeOutput(weights));
  ADIT_RETURN_IF_ERROR(TakeClassifier(weights.classifier));
  weights.output_products = ProductsOf(weights.output.matrix);
  // The family has read the divisors of its ropes.
  taker_.Skip("rope_freqs.weight");
  if (spec_.ShortRopeLength() > 0) {
    taker_.Skip("rope_factors_short.weight");
    taker_.Skip("rope_factors_long.weight");
  }
  return taker_.CheckAllTaken(spec_.architecture);
}

Status WeightLoader::TakeOneLayer(size_t index, ModelWeights& weights) {
  ADIT_RETURN_IF_ERROR(TakeEmbedding(weights));
  weights.layers.resize(1);
  return TakeLayer(index, weights.layers.front());
}

}  // namespace

void EmbeddingTable::ReadRow(int64_t row, float* room, float* out) const {
  const std::byte* bytes = nullptr;
  if (rows != nullptr) {
    bytes = rows + static_cast<size_t>(row) * tensor->row_bytes();
  } else {
    source->ReadRows(*tensor, row, 1, reinterpret_cast<std::byte*>(room));
    bytes = reinterpret_cast<const std::byte*>(room);
  }
  Traits(tensor->dtype).decode(bytes, out, tensor->row_elements());
}

ProductCount& ProductCount::operator+=(const ProductCount& other) {
  weight_bytes += other.weight_bytes;
  q8 += other.q8;
  bf16 += other.bf16;
  f32 += other.f32;
  return *this;
}

ProductCount ProductsOf(const nn::PackedMatrix& matrix) {
  if (matrix.empty()) return {};
  const int64_t products = matrix.num_rows() * matrix.num_cols();
  ProductCount count{.weight_bytes = static_cast<size_t>(matrix.num_panels()) * matrix.panel_bytes()};
  switch (matrix.activation()) {
    case kernels::ActivationFormat::kF32:
      count.f32 = products;
      break;
    case kernels::ActivationFormat::kBF16:
      count.bf16 = products;
      break;
    case kernels::ActivationFormat::kQ8:
      count.q8 = products;
      break;
  }
  return count;
}

void ForEachLinear(const ModelWeights& weights, const LinearFunction& take) {
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const auto named = [&](const char* name, const nn::Linear& linear) {
      take(fmt::format("blk.{}.{}.weight", i, name), linear);
    };
    const auto& attention = std::get<nn::AttentionBlockWeights>(weights.layers[i].mixer);
    named("attn_q", attention.q);
    named("attn_k", attention.k);
    named("attn_v", attention.v);
    named("attn_output", attention.out);
    if (const auto* gated = std::get_if<nn::GatedFeedForwardWeights>(&weights.layers[i].feed_forward)) {
      named("ffn_gate", gated->gate);
      named("ffn_up", gated->up);
      named("ffn_down", gated->down);
    } else {
      const auto& plain = std::get<nn::PlainFeedForwardWeights>(weights.layers[i].feed_forward);
      named("ffn_up", plain.up);
      named("ffn_down", plain.down);
    }
  }
  if (!weights.output.matrix.empty()) take("output.weight", weights.output);
}

// A few channels are large and coarsen the 8-bit codes of their blocks of 32. With normal numbers the largest of a
// block is 2.2 root mean squares; from 4 on are about a sixth of the blocks, which make four fifths of the error.
constexpr float kLeastOutlier = 4.0f;

// Against float activations, mean KL divergence and positions with the same best token, AVX2, 400 to 2,000 tokens of
// English, with one term, two where there are outliers, and two everywhere:
//   SmolLM2-135M Q4_1, rows of 576          0.0030 97.2 %   0.0004 98.0 %   0.000001 100 %
//   Gemma 3 270M Q4_K_M, rows of 640        0.0041 96.4 %   0.0007 98.7 %   0.000001 100 %
//   Qwen2.5-Coder 0.5B Q4_K_M, rows of 896  0.0006 98.8 %   0.0002 99.5 %   0.000001 100 %
//   Qwen2.5-Coder 1.5B Q4_K_M, rows of 1536 0.0012 99.3 %
// Prefill of SmolLM2 on Zen 3: 859, 635 and 524 tok/s; of the 1.5B: 98 and 72. The wider the row, the less it shows.
ActivationTerms ActivationTermsFor(const ModelSpec& spec) {
  constexpr int64_t kNarrow = 768;
  return spec.hidden_dim < kNarrow ? ActivationTerms::kOutliers : ActivationTerms::kOne;
}

namespace {

void SetTerms(ActivationTerms terms, ModelWeights& weights) {
  weights.two_terms = terms != ActivationTerms::kOne;
  weights.least_outlier = terms == ActivationTerms::kOutliers ? kLeastOutlier : 0.0f;
}

}  // namespace

Result<ModelWeights> LoadWeights(const ModelSpec& spec, std::shared_ptr<const formats::WeightSource> source,
                                 const nn::ExecContext& context, ActivationTerms terms, const LoadProgress& progress) {
  ModelWeights weights;
  SetTerms(terms, weights);
  TensorTaker taker(*source, context);
  ADIT_RETURN_IF_ERROR(WeightLoader(spec, taker).TakeAll(weights));
  ADIT_RETURN_IF_ERROR(taker.Pack(weights, progress));
  weights.source = std::move(source);
  return weights;
}

ModelSpec OneLayer(const ModelSpec& spec, size_t index) {
  ModelSpec one = spec;
  one.layers = {spec.layers[index]};
  one.output = {.norm = false, .logits = false};
  return one;
}

Result<ModelWeights> LoadLayer(const ModelSpec& spec, size_t index, std::shared_ptr<const formats::WeightSource> source,
                               const nn::ExecContext& context, ActivationTerms terms) {
  ModelWeights weights;
  SetTerms(terms, weights);
  TensorTaker taker(*source, context);
  ADIT_RETURN_IF_ERROR(WeightLoader(spec, taker).TakeOneLayer(index, weights));
  weights.layer_products = taker.products();
  ADIT_RETURN_IF_ERROR(taker.Pack(weights, {}));
  weights.source = std::move(source);
  return weights;
}

}  // namespace adit::models
