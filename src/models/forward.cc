#include "models/forward.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "nn/attention_block.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"
#include "nn/pass.h"
#include "nn/rope.h"

namespace adit::models {
namespace {

// The forms that `readers`, which share their input, read it in.
void AddForms(std::initializer_list<const nn::Linear*> readers, nn::ActivationForms& forms) {
  for (const nn::Linear* reader : readers) forms.q8 |= reader->wants_q8();
}

nn::WorkspaceSizes Measure(const ModelSpec& spec, const ModelWeights& weights, int num_workers, int64_t max_tokens) {
  nn::WorkspaceSizes sizes{.max_tokens = max_tokens, .num_workers = num_workers, .hidden_dim = spec.hidden_dim};
  sizes.two_terms = weights.two_terms;
  sizes.least_outlier = weights.least_outlier;
  for (const nn::RopeConfig& rope : spec.ropes) sizes.rope_pairs.push_back(rope.num_pairs);
  AddForms({&weights.output}, sizes.normed);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const auto& shape = std::get<nn::AttentionBlockConfig>(spec.layers[i].mixer).shape;
    const auto& attention = std::get<nn::AttentionBlockWeights>(weights.layers[i].mixer);
    sizes.q_dim = std::max(sizes.q_dim, int64_t{shape.num_heads} * shape.k_dim);
    sizes.k_dim = std::max(sizes.k_dim, int64_t{shape.num_kv_heads} * shape.k_dim);
    sizes.v_dim = std::max(sizes.v_dim, int64_t{shape.num_kv_heads} * shape.v_dim);
    sizes.attended_dim = std::max(sizes.attended_dim, int64_t{shape.num_heads} * shape.v_dim);
    sizes.heads_per_kv = std::max(sizes.heads_per_kv, shape.num_heads / shape.num_kv_heads);
    sizes.v_head_dim = std::max(sizes.v_head_dim, shape.v_dim);
    AddForms({&attention.q, &attention.k, &attention.v}, sizes.normed);
    AddForms({&attention.out}, sizes.attended);

    const auto& feed_forward = std::get<nn::GatedFeedForwardWeights>(weights.layers[i].feed_forward);
    sizes.ffn_dim = std::max(sizes.ffn_dim, std::get<nn::GatedFeedForwardConfig>(spec.layers[i].feed_forward).ffn_dim);
    AddForms({&feed_forward.gate, &feed_forward.up}, sizes.normed);
    AddForms({&feed_forward.down}, sizes.gated);
  }
  return sizes;
}

}  // namespace

class ForwardPass::State {
 public:
  State(const ModelSpec& spec, const ModelWeights& weights, const nn::KvLayout& layout, const nn::ExecContext& context,
        nn::Workspace workspace)
      : spec_(spec), weights_(weights), layout_(layout), context_(context), work_(std::move(workspace)) {
    for (const nn::RopeConfig& rope : spec.ropes) ropes_.emplace_back(rope);
  }

  void Run(const nn::ForwardBatch& batch, std::byte* kv_pool, float* logits) {
    ADIT_CHECK(!batch.tokens.empty() && static_cast<int64_t>(batch.tokens.size()) <= work_.max_tokens);
    work_.Plan(batch, layout_.block_size());
    const nn::Pass pass{
        .kernels = context_.kernels, .batch = batch, .kv_layout = layout_, .kv_pool = kv_pool, .work = work_};
    context_.team.Run([&](Worker& worker) { Forward(worker, pass, logits); });
  }

  const nn::Workspace& work() const { return work_; }

 private:
  // Run by every worker (nn/pass.h): embed; for each layer norm, mix, join, norm, feed forward, join; norm; logits.
  void Forward(Worker& worker, const nn::Pass& pass, float* logits) const;
  void Embed(Worker& worker, const nn::Pass& pass) const;
  void Logits(Worker& worker, const nn::Pass& pass, float* logits) const;

  const ModelSpec& spec_;
  const ModelWeights& weights_;
  const nn::KvLayout& layout_;
  const nn::ExecContext context_;
  std::vector<nn::Rope> ropes_;
  nn::Workspace work_;
};

void ForwardPass::State::Forward(Worker& worker, const nn::Pass& pass, float* logits) const {
  const float eps = spec_.norm_eps;
  Embed(worker, pass);
  worker.Barrier();
  std::span<const float> post_norm;  // of the block before, where it has one
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    const LayerSpec& layer = spec_.layers[i];
    const LayerWeights& weights = weights_.layers[i];
    const nn::BlockOutput output = layer.post_norms ? nn::BlockOutput::kApart : nn::BlockOutput::kAddToResidual;

    nn::JoinAndNorm(worker, pass, post_norm, weights.mixer_norm, eps);
    worker.Barrier();
    nn::RunAttentionBlock(worker, pass, i, std::get<nn::AttentionBlockConfig>(layer.mixer),
                          std::get<nn::AttentionBlockWeights>(weights.mixer), ropes_, eps, output);
    worker.Barrier();

    nn::JoinAndNorm(worker, pass, weights.post_mixer_norm, weights.feed_forward_norm, eps);
    worker.Barrier();
    nn::RunGatedFeedForward(worker, pass, std::get<nn::GatedFeedForwardConfig>(layer.feed_forward),
                            std::get<nn::GatedFeedForwardWeights>(weights.feed_forward), output);
    worker.Barrier();
    post_norm = weights.post_feed_forward_norm;
  }
  if (pass.batch.logit_rows.empty()) return;
  if (!post_norm.empty()) {
    nn::JoinAndNorm(worker, pass, post_norm, {}, eps);
    worker.Barrier();
  }
  Logits(worker, pass, logits);
}

// Embeddings of the tokens, and the angles that every rope gives their positions.
void ForwardPass::State::Embed(Worker& worker, const nn::Pass& pass) const {
  const EmbeddingTable& table = weights_.embedding;
  for (int64_t row; (row = worker.Claim()) < pass.num_tokens();) {
    float* out = work_.residual + row * spec_.hidden_dim;
    const size_t token = static_cast<size_t>(pass.batch.tokens[static_cast<size_t>(row)]);
    Traits(table.dtype).decode(table.rows + token * table.row_bytes, out, spec_.hidden_dim);
    if (spec_.embedding_scale != 1.0f) {
      for (int64_t i = 0; i < spec_.hidden_dim; ++i) out[i] *= spec_.embedding_scale;
    }
    for (size_t i = 0; i < ropes_.size(); ++i) {
      const int64_t offset = row * spec_.ropes[i].num_pairs;
      ropes_[i].Angles(work_.places[static_cast<size_t>(row)].position, work_.rope_cos[i] + offset,
                       work_.rope_sin[i] + offset);
    }
  }
}

// Only the wanted rows are normed, into the first rows of `normed`.
void ForwardPass::State::Logits(Worker& worker, const nn::Pass& pass, float* logits) const {
  const int64_t num_rows = static_cast<int64_t>(pass.batch.logit_rows.size());
  for (int64_t i; (i = worker.Claim()) < num_rows;) {
    const int64_t row = pass.batch.logit_rows[static_cast<size_t>(i)];
    nn::RmsNorm(pass, work_.residual + row * spec_.hidden_dim, weights_.final_norm, spec_.norm_eps, 1,
                work_.normed.Row(i));
    nn::QuantizeRow(worker, pass, work_.normed, i);
  }
  worker.Barrier();
  const nn::LinearJob output{.linear = &weights_.output, .out = logits, .out_stride = spec_.vocab_size};
  nn::RunLinear(worker, std::span(&output, 1), work_.normed.Input(), num_rows);
}

ForwardPass::ForwardPass(std::unique_ptr<State> state) : state_(std::move(state)) {}
ForwardPass::~ForwardPass() = default;

Result<std::unique_ptr<ForwardPass>> ForwardPass::Create(const ModelSpec& spec, const ModelWeights& weights,
                                                         const nn::KvLayout& layout, const nn::ExecContext& context,
                                                         int64_t max_tokens) {
  ADIT_ASSIGN_OR_RETURN(nn::Workspace workspace,
                        nn::Workspace::Create(Measure(spec, weights, context.team.size(), max_tokens)));
  return std::unique_ptr<ForwardPass>(
      new ForwardPass(std::make_unique<State>(spec, weights, layout, context, std::move(workspace))));
}

int64_t ForwardPass::max_tokens() const { return state_->work().max_tokens; }
size_t ForwardPass::scratch_bytes() const { return state_->work().buffer.size_bytes(); }

void ForwardPass::Run(const nn::ForwardBatch& batch, std::byte* kv_pool, float* logits) {
  state_->Run(batch, kv_pool, logits);
}

}  // namespace adit::models
