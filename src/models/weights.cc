#include "models/weights.h"

#include <fmt/core.h>

#include <atomic>
#include <string>
#include <unordered_set>

#include "base/error.h"

namespace adit::models {
namespace {

// A matrix whose memory is still in the file.
struct PendingMatrix {
  nn::PackedMatrix* matrix;
  const formats::TensorInfo* tensor;
};

// Takes the tensors of one checkpoint by name, in the shapes that a spec asks for.
class WeightLoader {
 public:
  WeightLoader(const ModelSpec& spec, const formats::WeightSource& source, const nn::ExecContext& context,
               ActivationTerms terms)
      : spec_(spec), source_(source), context_(context), terms_(terms) {}

  Status TakeAll(ModelWeights& weights);
  // Every tensor of the file has been taken; one that was not would be silently ignored.
  Status CheckAllTaken() const;
  Status Pack(ModelWeights& weights, const LoadProgress& progress) const;

 private:
  // What a product reads.

  Result<const formats::TensorInfo*> Take(const std::string& name, int64_t rows, int64_t cols);
  Status TakeVector(const std::string& name, int64_t size, std::vector<float>& out);
  Status TakeOptionalVector(const std::string& name, int64_t size, std::vector<float>& out);
  Status TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out);
  Status TakeMixer(const std::string& prefix, const nn::AttentionBlockConfig& spec, MixerWeights& out);
  Status TakeFeedForward(const std::string& prefix, const nn::GatedFeedForwardConfig& spec, FeedForwardWeights& out);
  Status TakeLayer(size_t index, LayerWeights& out);
  Status TakeOutput(ModelWeights& weights);
  void Packed(nn::PackedMatrix& matrix, const formats::TensorInfo& tensor);

  const ModelSpec& spec_;
  const formats::WeightSource& source_;
  const nn::ExecContext& context_;
  const ActivationTerms terms_;
  std::vector<PendingMatrix> pending_;
  ProductCount products_;  // of the matrices taken so far
  std::unordered_set<std::string> taken_;
};

void Count(const nn::PackedMatrix& matrix, ProductCount& count) {
  const int64_t products = matrix.num_rows() * matrix.num_cols();
  count.weight_bytes += static_cast<size_t>(matrix.num_panels()) * matrix.panel_bytes();
  (matrix.activation() == kernels::ActivationFormat::kQ8 ? count.q8 : count.f32) += products;
}

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
  Traits(tensor->dtype).decode(tensor->data.data(), out.data(), size);
  return Status();
}

Status WeightLoader::TakeOptionalVector(const std::string& name, int64_t size, std::vector<float>& out) {
  if (source_.Find(name) == nullptr) return Status();
  return TakeVector(name, size, out);
}

void WeightLoader::Packed(nn::PackedMatrix& matrix, const formats::TensorInfo& tensor) {
  matrix = nn::PackedMatrix(context_.kernels, tensor.dtype, tensor.shape[0], tensor.shape[1]);
  Count(matrix, products_);
  if (matrix.needs_packing()) {
    pending_.push_back({&matrix, &tensor});
  } else {
    matrix.set_data(tensor.data.data());
  }
}

Status WeightLoader::TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out) {
  ADIT_ASSIGN_OR_RETURN(const formats::TensorInfo* tensor, Take(name + ".weight", rows, cols));
  Packed(out.matrix, *tensor);
  return TakeOptionalVector(name + ".bias", rows, out.bias);
}

Status WeightLoader::TakeMixer(const std::string& prefix, const nn::AttentionBlockConfig& spec, MixerWeights& out) {
  nn::AttentionBlockWeights& weights = out.emplace<nn::AttentionBlockWeights>();
  const nn::AttentionConfig& shape = spec.shape;
  const int64_t q_dim = int64_t{shape.num_heads} * shape.k_dim;
  const int64_t k_dim = int64_t{shape.num_kv_heads} * shape.k_dim;
  const int64_t v_dim = int64_t{shape.num_kv_heads} * shape.v_dim;
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "attn_q", q_dim, spec_.hidden_dim, weights.q));
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "attn_k", k_dim, spec_.hidden_dim, weights.k));
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "attn_v", v_dim, spec_.hidden_dim, weights.v));
  ADIT_RETURN_IF_ERROR(
      TakeLinear(prefix + "attn_output", spec_.hidden_dim, int64_t{shape.num_heads} * shape.v_dim, weights.out));
  if (!spec.qk_norm) return Status();
  ADIT_RETURN_IF_ERROR(TakeVector(prefix + "attn_q_norm.weight", shape.k_dim, weights.q_norm));
  return TakeVector(prefix + "attn_k_norm.weight", shape.k_dim, weights.k_norm);
}

Status WeightLoader::TakeFeedForward(const std::string& prefix, const nn::GatedFeedForwardConfig& spec,
                                     FeedForwardWeights& out) {
  nn::GatedFeedForwardWeights& weights = out.emplace<nn::GatedFeedForwardWeights>();
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "ffn_gate", spec.ffn_dim, spec_.hidden_dim, weights.gate));
  ADIT_RETURN_IF_ERROR(TakeLinear(prefix + "ffn_up", spec.ffn_dim, spec_.hidden_dim, weights.up));
  return TakeLinear(prefix + "ffn_down", spec_.hidden_dim, spec.ffn_dim, weights.down);
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
  weights.embedding = {.dtype = embedding->dtype,
                       .rows = embedding->data.data(),
                       .row_bytes = RowBytes(embedding->dtype, spec_.hidden_dim)};
  if (source_.Find("output.weight") != nullptr) {
    return TakeLinear("output", spec_.vocab_size, spec_.hidden_dim, weights.output);
  }
  Packed(weights.output.matrix, *embedding);
  return Status();
}

Status WeightLoader::TakeAll(ModelWeights& weights) {
  weights.layers.resize(spec_.layers.size());
  for (size_t i = 0; i < spec_.layers.size(); ++i) ADIT_RETURN_IF_ERROR(TakeLayer(i, weights.layers[i]));
  weights.layer_products = products_;
  ADIT_RETURN_IF_ERROR(TakeVector("output_norm.weight", spec_.hidden_dim, weights.final_norm));
  ADIT_RETURN_IF_ERROR(TakeOutput(weights));
  Count(weights.output.matrix, weights.output_products);
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

Status WeightLoader::Pack(ModelWeights& weights, const LoadProgress& progress) const {
  size_t total_bytes = 0;
  for (const PendingMatrix& pending : pending_) total_bytes += pending.matrix->packed_bytes();
  ADIT_ASSIGN_OR_RETURN(weights.packed, AlignedBuffer::Allocate(total_bytes, "packed weights"));
  // A piece is about this much of the file: small enough to share out, large enough that letting its pages go is cheap.
  constexpr size_t kPieceBytes = size_t{4} << 20;
  size_t offset = 0;
  for (const PendingMatrix& pending : pending_) {
    nn::PackedMatrix& matrix = *pending.matrix;
    std::byte* panels = weights.packed.data() + offset;
    const std::byte* rows = pending.tensor->data.data();
    const size_t row_bytes = RowBytes(matrix.dtype(), matrix.num_cols());
    const int64_t panels_per_piece = std::max<int64_t>(
        1, static_cast<int64_t>(kPieceBytes / (row_bytes * static_cast<size_t>(matrix.panel_rows()))));
    const int64_t num_pieces = (matrix.num_panels() + panels_per_piece - 1) / panels_per_piece;
    context_.team.Run([&](Worker& worker) {
      for (int64_t piece; (piece = worker.Claim()) < num_pieces;) {
        const int64_t begin = piece * panels_per_piece;
        const int64_t end = std::min(begin + panels_per_piece, matrix.num_panels());
        matrix.Pack(rows, panels, begin, end);
        const size_t first_row = static_cast<size_t>(begin * matrix.panel_rows());
        const size_t last_row = static_cast<size_t>(std::min(end * matrix.panel_rows(), matrix.num_rows()));
        source_.Release(pending.tensor->data.subspan(first_row * row_bytes, (last_row - first_row) * row_bytes));
      }
    });
    matrix.set_data(panels);
    offset += matrix.packed_bytes();
    if (progress) progress(static_cast<double>(offset) / static_cast<double>(total_bytes));
  }
  return Status();
}

}  // namespace

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

Result<ModelWeights> LoadWeights(const ModelSpec& spec, std::shared_ptr<const formats::WeightSource> source,
                                 const nn::ExecContext& context, ActivationTerms terms, const LoadProgress& progress) {
  ModelWeights weights;
  weights.two_terms = terms != ActivationTerms::kOne;
  weights.least_outlier = terms == ActivationTerms::kOutliers ? kLeastOutlier : 0.0f;
  WeightLoader loader(spec, *source, context, terms);
  ADIT_RETURN_IF_ERROR(loader.TakeAll(weights));
  ADIT_RETURN_IF_ERROR(loader.Pack(weights, progress));
  weights.source = std::move(source);
  return weights;
}

}  // namespace adit::models
