#include "models/weights.h"

#include <fmt/core.h>

#include <string>

#include "models/tensor_taker.h"

namespace adit::models {
namespace {

// Takes what a spec asks for, by the names that GGUF files have.
class WeightLoader {
 public:
  WeightLoader(const ModelSpec& spec, TensorTaker& taker, ActivationTerms terms)
      : spec_(spec), taker_(taker), terms_(terms) {}

  Status TakeAll(ModelWeights& weights);

 private:
  using Part = TensorTaker::Part;
  // What a product reads.
  enum class Input : uint8_t { kNormed, kOther };

  void SetTerms(nn::Linear& linear, Input input) const {
    linear.two_terms =
        terms_ == ActivationTerms::kTwo || (terms_ == ActivationTerms::kNormed && input == Input::kNormed);
  }
  // Norms of [rows, cols] numbers.
  Status TakeNorm(const std::string& name, int64_t rows, int64_t cols, nn::Norm& out);
  Status TakeNorm(const std::string& name, nn::Norm& out) { return TakeNorm(name, 1, spec_.hidden_dim, out); }
  Status TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out, Input input);
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

  const ModelSpec& spec_;
  TensorTaker& taker_;
  const ActivationTerms terms_;
};

Status WeightLoader::TakeNorm(const std::string& name, int64_t rows, int64_t cols, nn::Norm& out) {
  out.kind = spec_.norm_kind;
  out.eps = spec_.norm_eps;
  return taker_.TakeNorm(name, rows, cols, out);
}

Status WeightLoader::TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out, Input input) {
  SetTerms(out, input);
  return taker_.TakeLinear(name, rows, cols, out);
}

Status WeightLoader::TakeParts(const std::string& joint, const std::vector<Part>& parts) {
  for (const Part& part : parts) SetTerms(*part.out, Input::kNormed);
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
  return TakeLinear(prefix + "attn_output", spec_.hidden_dim, int64_t{shape.num_heads} * shape.v_dim, weights.out,
                    Input::kOther);
}

// Joint, gate and up have up's name and twice its rows.
Status WeightLoader::TakeFeedForward(const std::string& prefix, const nn::GatedFeedForwardConfig& spec,
                                     FeedForwardWeights& out) {
  nn::GatedFeedForwardWeights& weights = out.emplace<nn::GatedFeedForwardWeights>();
  ADIT_RETURN_IF_ERROR(TakeParts(prefix + "ffn_up", {{prefix + "ffn_gate", spec.ffn_dim, &weights.gate},
                                                     {prefix + "ffn_up", spec.ffn_dim, &weights.up}}));
  return TakeLinear(prefix + "ffn_down", spec_.hidden_dim, spec.ffn_dim, weights.down, Input::kOther);
}

Status WeightLoader::TakeFeedForward(const std::string& prefix, const nn::PlainFeedForwardConfig& spec,
                                     FeedForwardWeights& out) {
  nn::PlainFeedForwardWeights& weights = out.emplace<nn::PlainFeedForwardWeights>();
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "ffn_up", spec.ffn_dim, spec_.hidden_dim, weights.up, Input::kNormed));
  return TakeLinear(prefix + "ffn_down", spec_.hidden_dim, spec.ffn_dim, weights.down, Input::kOther);
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
  if (spec_.embedding.token_type) {
    ADIT_RETURN_IF_ERROR(taker_.TakeFirstRow("token_types.weight", spec_.hidden_dim, weights.token_type));
  }
  return spec_.embedding.norm ? TakeNorm("token_embd_norm", weights.embedding_norm) : Status();
}

// A checkpoint without an output matrix ties it to the embedding.
Status WeightLoader::TakeOutput(ModelWeights& weights) {
  if (spec_.output.norm) ADIT_RETURN_IF_ERROR(TakeNorm("output_norm", weights.final_norm));
  if (!spec_.output.logits) return Status();
  if (taker_.Has("output.weight")) {
    return TakeLinear("output", spec_.vocab_size, spec_.hidden_dim, weights.output, Input::kNormed);
  }
  SetTerms(weights.output, Input::kNormed);
  taker_.UseTable(weights.embedding, spec_.vocab_size, spec_.hidden_dim, weights.output);
  return Status();
}

Status WeightLoader::TakeAll(ModelWeights& weights) {
  ADIT_RETURN_IF_ERROR(TakeEmbedding(weights));
  weights.layers.resize(spec_.layers.size());
  for (size_t i = 0; i < spec_.layers.size(); ++i) ADIT_RETURN_IF_ERROR(TakeLayer(i, weights.layers[i]));
  ADIT_RETURN_IF_ERROR(TakeOutput(weights));
  // The family has read the divisors of its ropes.
  taker_.Skip("rope_freqs.weight");
  if (spec_.ShortRopeLength() > 0) {
    taker_.Skip("rope_factors_short.weight");
    taker_.Skip("rope_factors_long.weight");
  }
  return taker_.CheckAllTaken(spec_.architecture);
}

}  // namespace

// Against float activations, mean KL divergence and positions with the same best token, AVX2, 256 to 1,000 tokens of
// technical English, with one term and with two for normed rows:
//   SmolLM2-135M Q4_1, rows of 576          0.0030 96.2 %   0.0005 98.0 %
//   Gemma 3 270M Q4_K_M, rows of 640        0.0024 97.3 %   0.0008 99.3 %
//   Qwen2.5-Coder 0.5B Q4_K_M, rows of 896  0.0006 99.2 %   0.0001 99.6 %
// A few channels of a normed row are large and coarsen the codes of their block; the wider the row, the less it shows.
ActivationTerms ActivationTermsFor(const ModelSpec& spec) {
  constexpr int64_t kNarrow = 768;
  return spec.hidden_dim < kNarrow ? ActivationTerms::kTwo : ActivationTerms::kOne;
}

Result<ModelWeights> LoadWeights(const ModelSpec& spec, std::shared_ptr<const formats::WeightSource> source,
                                 const nn::ExecContext& context, ActivationTerms terms, const LoadProgress& progress) {
  ModelWeights weights;
  TensorTaker taker(*source, context);
  ADIT_RETURN_IF_ERROR(WeightLoader(spec, taker, terms).TakeAll(weights));
  ADIT_RETURN_IF_ERROR(taker.Pack(weights.packed, progress));
  weights.source = std::move(source);
  return weights;
}

}  // namespace adit::models
