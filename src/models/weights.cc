#include "models/weights.h"

#include <fmt/core.h>

#include <string>
#include <unordered_set>

#include "base/error.h"
#include "models/pack.h"

namespace adit::models {
namespace {

// Takes the tensors of one checkpoint by name, in the shapes that a spec asks for.
class WeightLoader {
 public:
  WeightLoader(const ModelSpec& spec, const formats::WeightSource& source, const nn::ExecContext& context,
               ActivationTerms terms)
      : spec_(spec), source_(source), context_(context), terms_(terms), in_place_(source) {}

  Status TakeAll(ModelWeights& weights);
  // Every tensor of the file has been taken; one that was not would be silently ignored.
  Status CheckAllTaken() const;
  Status Pack(ModelWeights& weights, const LoadProgress& progress);

 private:
  // What a product reads.
  enum class Input : uint8_t { kNormed, kOther };

  bool TwoTerms(Input input) const {
    return terms_ == ActivationTerms::kTwo || (terms_ == ActivationTerms::kNormed && input == Input::kNormed);
  }
  Result<const formats::TensorInfo*> Take(const std::string& name, int64_t rows, int64_t cols);
  Status TakeVector(const std::string& name, int64_t size, std::vector<float>& out);
  Status TakeOptionalVector(const std::string& name, int64_t size, std::vector<float>& out);
  Status TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out, Input input);
  Status TakeMixer(const std::string& prefix, const nn::AttentionBlockConfig& spec, MixerWeights& out);
  Status TakeFeedForward(const std::string& prefix, const nn::GatedFeedForwardConfig& spec, FeedForwardWeights& out);
  Status TakeLayer(size_t index, LayerWeights& out);
  Status TakeOutput(ModelWeights& weights);
  Status SetMatrix(nn::PackedMatrix& matrix, const formats::TensorInfo& tensor);

  const ModelSpec& spec_;
  const formats::WeightSource& source_;
  const nn::ExecContext& context_;
  const ActivationTerms terms_;
  std::vector<PendingMatrix> pending_;
  RowsInPlace in_place_;
  std::unordered_set<std::string> taken_;
};

// A matrix is [rows, cols]; a vector is taken as one row.
Result<const formats::TensorInfo*> WeightLoader::Take(const std::string& name, int64_t rows, int64_t cols) {
  const formats::TensorInfo* tensor = source_.Find(name);
  if (tensor == nullptr) return Corrupt("{}: tensor '{}' is missing", source_.path(), name);
  const bool is_vector = tensor->rank == 1;
  const int64_t got_rows = is_vector ? 1 : tensor->shape[0];
  const int64_t got_cols = is_vector ? tensor->shape[0] : tensor->shape[1];
  if (tensor->rank > 2 || got_rows != rows || got_cols != cols) {
    return Corrupt("{}: tensor '{}' is [{}, {}], expected [{}, {}]", source_.path(), name, got_rows, got_cols, rows,
                   cols);
  }
  taken_.insert(name);
  return tensor;
}

Status WeightLoader::TakeVector(const std::string& name, int64_t size, std::vector<float>& out) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name, 1, size));
  out.resize(static_cast<size_t>(size));
  formats::ReadFloats(source_, *tensor, out.data());
  return Status();
}

Status WeightLoader::TakeOptionalVector(const std::string& name, int64_t size, std::vector<float>& out) {
  if (source_.Find(name) == nullptr) return Status();
  return TakeVector(name, size, out);
}

Status WeightLoader::SetMatrix(nn::PackedMatrix& matrix, const formats::TensorInfo& tensor) {
  matrix = nn::PackedMatrix(context_.kernels, tensor.dtype, tensor.shape[0], tensor.shape[1]);
  if (matrix.needs_packing()) {
    pending_.push_back({.matrix = &matrix, .tensor = &tensor});
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const std::byte* rows, in_place_.Of(tensor));
  matrix.set_data(rows);
  return Status();
}

Status WeightLoader::TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out, Input input) {
  out.two_terms = TwoTerms(input);
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name + ".weight", rows, cols));
  ADIT_RETURN_IF_ERROR(SetMatrix(out.matrix, *tensor));
  return TakeOptionalVector(name + ".bias", rows, out.bias);
}

Status WeightLoader::TakeMixer(const std::string& prefix, const nn::AttentionBlockConfig& spec, MixerWeights& out) {
  nn::AttentionBlockWeights& weights = out.emplace<nn::AttentionBlockWeights>();
  const nn::AttentionConfig& shape = spec.shape;
  const int64_t q_dim = int64_t{shape.num_heads} * shape.k_dim;
  const int64_t k_dim = int64_t{shape.num_kv_heads} * shape.k_dim;
  const int64_t v_dim = int64_t{shape.num_kv_heads} * shape.v_dim;
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "attn_q", q_dim, spec_.hidden_dim, weights.q, Input::kNormed));
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "attn_k", k_dim, spec_.hidden_dim, weights.k, Input::kNormed));
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "attn_v", v_dim, spec_.hidden_dim, weights.v, Input::kNormed));
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "attn_output", spec_.hidden_dim, int64_t{shape.num_heads} * shape.v_dim,
                                  weights.out, Input::kOther));
  if (!spec.qk_norm) return Status();
  ADIT_RETURN_IF_ERROR(TakeVector(prefix + "attn_q_norm.weight", shape.k_dim, weights.q_norm));
  return TakeVector(prefix + "attn_k_norm.weight", shape.k_dim, weights.k_norm);
}

Status WeightLoader::TakeFeedForward(const std::string& prefix, const nn::GatedFeedForwardConfig& spec,
                                     FeedForwardWeights& out) {
  nn::GatedFeedForwardWeights& weights = out.emplace<nn::GatedFeedForwardWeights>();
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "ffn_gate", spec.ffn_dim, spec_.hidden_dim, weights.gate, Input::kNormed));
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "ffn_up", spec.ffn_dim, spec_.hidden_dim, weights.up, Input::kNormed));
  return TakeLinear(prefix + "ffn_down", spec_.hidden_dim, spec.ffn_dim, weights.down, Input::kOther);
}

Status WeightLoader::TakeLayer(size_t index, LayerWeights& out) {
  const LayerSpec& layer = spec_.layers[index];
  const std::string prefix = fmt::format("blk.{}.", index);
  ADIT_RETURN_IF_ERROR(TakeVector(prefix + "attn_norm.weight", spec_.hidden_dim, out.mixer_norm));
  ADIT_RETURN_IF_ERROR(TakeVector(prefix + "ffn_norm.weight", spec_.hidden_dim, out.feed_forward_norm));
  if (layer.post_norms) {
    ADIT_RETURN_IF_ERROR(TakeVector(prefix + "post_attention_norm.weight", spec_.hidden_dim, out.post_mixer_norm));
    ADIT_RETURN_IF_ERROR(TakeVector(prefix + "post_ffw_norm.weight", spec_.hidden_dim, out.post_feed_forward_norm));
  }
  ADIT_RETURN_IF_ERROR(TakeMixer(prefix, std::get<nn::AttentionBlockConfig>(layer.mixer), out.mixer));
  return TakeFeedForward(prefix, std::get<nn::GatedFeedForwardConfig>(layer.feed_forward), out.feed_forward);
}

// A checkpoint without an output matrix ties it to the embedding.
Status WeightLoader::TakeOutput(ModelWeights& weights) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* embedding,
                        Take("token_embd.weight", spec_.vocab_size, spec_.hidden_dim));
  ADIT_ASSIGN_OR_RETURN(const std::byte* rows, in_place_.Of(*embedding));
  weights.embedding = {.dtype = embedding->dtype, .rows = rows, .row_bytes = embedding->row_bytes()};
  if (source_.Find("output.weight") != nullptr) {
    return TakeLinear("output", spec_.vocab_size, spec_.hidden_dim, weights.output, Input::kNormed);
  }
  weights.output.two_terms = TwoTerms(Input::kNormed);
  return SetMatrix(weights.output.matrix, *embedding);
}

Status WeightLoader::TakeAll(ModelWeights& weights) {
  weights.layers.resize(spec_.layers.size());
  for (size_t i = 0; i < spec_.layers.size(); ++i) ADIT_RETURN_IF_ERROR(TakeLayer(i, weights.layers[i]));
  ADIT_RETURN_IF_ERROR(TakeVector("output_norm.weight", spec_.hidden_dim, weights.final_norm));
  ADIT_RETURN_IF_ERROR(TakeOutput(weights));
  taken_.insert("rope_freqs.weight");  // the family has read it
  return CheckAllTaken();
}

Status WeightLoader::CheckAllTaken() const {
  for (const formats::TensorInfo& tensor : source_.tensors()) {
    if (taken_.contains(std::string(tensor.name))) continue;
    return Unsupported("{}: tensor '{}' has no place in a {} model as this build knows it", source_.path(), tensor.name,
                       spec_.architecture);
  }
  return Status();
}

Status WeightLoader::Pack(ModelWeights& weights, const LoadProgress& progress) {
  weights.in_place = in_place_.TakeBuffers();
  return PackMatrices(source_, context_, pending_, weights.packed, progress);
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
  WeightLoader loader(spec, *source, context, terms);
  ADIT_RETURN_IF_ERROR(loader.TakeAll(weights));
  ADIT_RETURN_IF_ERROR(loader.Pack(weights, progress));
  weights.source = std::move(source);
  return weights;
}

}  // namespace adit::models
