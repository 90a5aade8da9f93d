#include "models/forward.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "models/layer_joins.h"
#include "nn/attention_block.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"
#include "nn/pass.h"
#include "nn/rope.h"

namespace adit::models {
namespace {

bool AnyWantsQ8(std::initializer_list<const nn::Linear*> readers) {
  return std::any_of(readers.begin(), readers.end(), [](const nn::Linear* reader) { return reader->wants_q8(); });
}

// Whether matrices want their input gathered, and in which form.
void MeasureGathered(const nn::Linear& reader, nn::WorkspaceSizes& sizes) {
  if (reader.column_order.empty()) return;
  sizes.gathers = true;
  sizes.gathered_q8 |= reader.wants_q8();
}

void MeasureFeedForward(const nn::GatedFeedForwardConfig& config, const FeedForwardWeights& any_weights,
                        nn::WorkspaceSizes& sizes) {
  const auto& weights = std::get<nn::GatedFeedForwardWeights>(any_weights);
  sizes.ffn_dim = std::max(sizes.ffn_dim, config.ffn_dim);
  sizes.gate_dim = std::max(sizes.gate_dim, config.ffn_dim);
  sizes.normed_q8 |= AnyWantsQ8({&weights.gate, &weights.up});
  sizes.gated_q8 |= AnyWantsQ8({&weights.down});
  for (const nn::Linear* reader : {&weights.gate, &weights.up, &weights.down}) MeasureGathered(*reader, sizes);
}

void MeasureFeedForward(const nn::PlainFeedForwardConfig& config, const FeedForwardWeights& any_weights,
                        nn::WorkspaceSizes& sizes) {
  const auto& weights = std::get<nn::PlainFeedForwardWeights>(any_weights);
  sizes.ffn_dim = std::max(sizes.ffn_dim, config.ffn_dim);
  sizes.normed_q8 |= AnyWantsQ8({&weights.up});
  sizes.gated_q8 |= AnyWantsQ8({&weights.down});
  for (const nn::Linear* reader : {&weights.up, &weights.down}) MeasureGathered(*reader, sizes);
}

nn::WorkspaceSizes Measure(const ModelSpec& spec, const ModelWeights& weights, int num_workers, int64_t max_tokens) {
  nn::WorkspaceSizes sizes{.max_tokens = max_tokens, .num_workers = num_workers, .hidden_dim = spec.hidden_dim};
  sizes.two_terms = weights.two_terms;
  sizes.least_outlier = weights.least_outlier;
  for (const nn::RopeConfig& rope : spec.ropes) sizes.rope_pairs.push_back(rope.num_pairs);
  if (spec.output.logits) {
    sizes.normed_q8 |= AnyWantsQ8({&weights.output});
    MeasureGathered(weights.output, sizes);
  }
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const auto& shape = std::get<nn::AttentionBlockConfig>(spec.layers[i].mixer).shape;
    const auto& attention = std::get<nn::AttentionBlockWeights>(weights.layers[i].mixer);
    sizes.q_dim = std::max(sizes.q_dim, int64_t{shape.num_heads} * shape.k_dim);
    sizes.k_dim = std::max(sizes.k_dim, int64_t{shape.num_kv_heads} * shape.k_dim);
    sizes.v_dim = std::max(sizes.v_dim, int64_t{shape.num_kv_heads} * shape.v_dim);
    sizes.attended_dim = std::max(sizes.attended_dim, int64_t{shape.num_heads} * shape.v_dim);
    sizes.heads_per_kv = std::max(sizes.heads_per_kv, shape.num_heads / shape.num_kv_heads);
    sizes.v_head_dim = std::max(sizes.v_head_dim, shape.v_dim);
    sizes.normed_q8 |= AnyWantsQ8({&attention.q, &attention.k, &attention.v});
    sizes.attended_q8 |= AnyWantsQ8({&attention.out});
    for (const nn::Linear* reader : {&attention.q, &attention.k, &attention.v, &attention.out}) {
      MeasureGathered(*reader, sizes);
    }

    std::visit([&](const auto& config) { MeasureFeedForward(config, weights.layers[i].feed_forward, sizes); },
               spec.layers[i].feed_forward);
  }
  return sizes;
}

// Logits that a worker caps at a time: some microseconds.
constexpr int64_t kSoftcapPiece = 4096;

}  // namespace

class ForwardPass::State {
 public:
  // Where rows come from, if not from the embedding, and where results go; one of the two is null.
  struct Ends {
    const float* input = nullptr;
    float* logits = nullptr;
    float* hidden = nullptr;
  };

  State(const ModelSpec& spec, const ModelWeights& weights, const nn::KvLayout& layout, const nn::ExecContext& context,
        nn::Workspace workspace)
      : spec_(spec), weights_(weights), layout_(layout), context_(context), work_(std::move(workspace)) {
    for (const nn::RopeConfig& rope : spec.ropes) ropes_.emplace_back(rope);
  }

  void Run(const nn::ForwardBatch& batch, std::byte* kv_pool, const Ends& ends) {
    ADIT_CHECK(!batch.tokens.empty() && static_cast<int64_t>(batch.tokens.size()) <= work_.max_tokens);
    work_.Plan(batch, layout_.block_size());
    const nn::Pass pass{.kernels = context_.kernels,
                        .batch = batch,
                        .kv_layout = layout_,
                        .kv_pool = kv_pool,
                        .work = work_,
                        .times = times_,
                        .observer = context_.observer};
    times_.Begin();
    context_.team.Run([&](Worker& worker) { Forward(worker, pass, ends); });
    times_.End(ends.logits != nullptr ? nn::Op::kOutput : nn::Op::kNorm);
  }

  const nn::Workspace& work() const { return work_; }
  const nn::OpTimes& times() const { return times_; }

 private:
  // Run by every worker (nn/pass.h): embed; for each layer norm, mix, join, norm, feed forward, join; norm; logits.
  void Forward(Worker& worker, const nn::Pass& pass, const Ends& ends) const;
  void Embed(Worker& worker, const nn::Pass& pass, const float* input) const;
  void EmbedRow(const nn::Pass& pass, int64_t row) const;
  int64_t TokenType(const nn::Pass& pass, int64_t row) const;
  void RunFeedForward(Worker& worker, const nn::Pass& pass, size_t layer) const;
  void HiddenStates(Worker& worker, const nn::Pass& pass, float* hidden) const;
  void Logits(Worker& worker, const nn::Pass& pass, float* logits) const;

  const ModelSpec& spec_;
  const ModelWeights& weights_;
  const nn::KvLayout& layout_;
  const nn::ExecContext context_;
  std::vector<nn::Rope> ropes_;
  nn::Workspace work_;
  nn::OpTimes times_;
};

void ForwardPass::State::Forward(Worker& worker, const nn::Pass& pass, const Ends& ends) const {
  Embed(worker, pass, ends.input);
  pass.EndPhase(worker, nn::Op::kEmbed);
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    nn::RunJoin(worker, pass, BeforeMixer(spec_, weights_, i));
    pass.EndPhase(worker, nn::Op::kNorm);
    nn::RunAttentionBlock(worker, pass, i, std::get<nn::AttentionBlockConfig>(spec_.layers[i].mixer),
                          std::get<nn::AttentionBlockWeights>(weights_.layers[i].mixer), ropes_,
                          MixerOutput(spec_, spec_.layers[i]));
    pass.EndPhase(worker, nn::Op::kLinear);

    if (spec_.layers[i].feed_forward_input != FeedForwardInput::kAsMixer) {
      nn::RunJoin(worker, pass, BeforeFeedForward(spec_, weights_, i));
      pass.EndPhase(worker, nn::Op::kNorm);
    }
    RunFeedForward(worker, pass, i);
    pass.EndPhase(worker, nn::Op::kLinear);
  }
  if (pass.batch.logit_rows.empty()) return;
  if (const nn::Join last = AfterFeedForward(spec_, weights_, spec_.layers.size() - 1); HasEffect(last)) {
    nn::RunJoin(worker, pass, last);
    pass.EndPhase(worker, nn::Op::kNorm);
  }
  if (ends.hidden != nullptr) HiddenStates(worker, pass, ends.hidden);
  if (ends.logits != nullptr) Logits(worker, pass, ends.logits);
}

// Embeddings of the tokens, or `input`, and the angles that every rope gives their positions.
void ForwardPass::State::Embed(Worker& worker, const nn::Pass& pass, const float* input) const {
  worker.ForRows(pass.num_tokens(), [&](int64_t row) {
    if (input != nullptr) {
      std::copy_n(input + row * spec_.hidden_dim, spec_.hidden_dim, work_.residual + row * spec_.hidden_dim);
    } else {
      EmbedRow(pass, row);
    }
    const nn::RowPlace& place = work_.places[static_cast<size_t>(row)];
    const bool is_long = pass.batch.sequences[place.sequence].long_rope;
    for (size_t i = 0; i < ropes_.size(); ++i) {
      const int64_t offset = row * spec_.ropes[i].num_pairs;
      ropes_[i].Angles(place.position, is_long, work_.rope_cos[i] + offset, work_.rope_sin[i] + offset);
    }
  });
}

// 1 in the second text of two, where the model tells them apart.
int64_t ForwardPass::State::TokenType(const nn::Pass& pass, int64_t row) const {
  const nn::RowPlace& place = work_.places[static_cast<size_t>(row)];
  const bool is_second = place.position >= pass.batch.sequences[place.sequence].second_text;
  return is_second && static_cast<int64_t>(weights_.token_types.size()) > spec_.hidden_dim ? 1 : 0;
}

void ForwardPass::State::EmbedRow(const nn::Pass& pass, int64_t row) const {
  const int64_t dim = spec_.hidden_dim;
  float* out = work_.residual + row * dim;
  float* room = work_.normed.f32 + row * dim;
  weights_.embedding.ReadRow(pass.batch.tokens[static_cast<size_t>(row)], room, out);
  if (spec_.embedding.scale != 1.0f) {
    for (int64_t i = 0; i < dim; ++i) out[i] *= spec_.embedding.scale;
  }
  if (spec_.embedding.learned_positions) {
    float* position = work_.block_out + row * dim;
    weights_.positions.ReadRow(work_.places[static_cast<size_t>(row)].position, room, position);
    for (int64_t i = 0; i < dim; ++i) out[i] += position[i];
  }
  if (!weights_.token_types.empty()) {
    const float* type = weights_.token_types.data() + TokenType(pass, row) * dim;
    for (int64_t i = 0; i < dim; ++i) out[i] += type[i];
  }
  if (!weights_.embedding_norm.empty()) nn::RunNorm(pass, weights_.embedding_norm, out, 1, out);
}

void ForwardPass::State::RunFeedForward(Worker& worker, const nn::Pass& pass, size_t layer) const {
  const FeedForwardSpec& spec = spec_.layers[layer].feed_forward;
  const FeedForwardWeights& weights = weights_.layers[layer].feed_forward;
  const nn::BlockOutput output = FeedForwardOutput(spec_, spec_.layers[layer]);
  if (const auto* gated = std::get_if<nn::GatedFeedForwardConfig>(&spec)) {
    nn::RunGatedFeedForward(worker, pass, *gated, std::get<nn::GatedFeedForwardWeights>(weights), output);
  } else {
    nn::RunPlainFeedForward(worker, pass, std::get<nn::PlainFeedForwardConfig>(spec),
                            std::get<nn::PlainFeedForwardWeights>(weights), output);
  }
}

void ForwardPass::State::HiddenStates(Worker& worker, const nn::Pass& pass, float* hidden) const {
  const int64_t dim = spec_.hidden_dim;
  for (int64_t i; (i = worker.Claim()) < static_cast<int64_t>(pass.batch.logit_rows.size());) {
    const float* residual = work_.residual + pass.batch.logit_rows[static_cast<size_t>(i)] * dim;
    if (weights_.final_norm.empty()) {
      std::copy_n(residual, dim, hidden + i * dim);
    } else {
      nn::RunNorm(pass, weights_.final_norm, residual, 1, hidden + i * dim);
    }
  }
}

// Only the wanted rows are normed, into the first rows of `normed`; the scale of the logits is theirs, which is the
// same but for rounding.
void ForwardPass::State::Logits(Worker& worker, const nn::Pass& pass, float* logits) const {
  const int64_t dim = spec_.hidden_dim;
  const int64_t num_rows = static_cast<int64_t>(pass.batch.logit_rows.size());
  for (int64_t i; (i = worker.Claim()) < num_rows;) {
    const float* residual = work_.residual + pass.batch.logit_rows[static_cast<size_t>(i)] * dim;
    float* normed = work_.normed.Row(i);
    if (weights_.final_norm.empty()) {
      std::copy_n(residual, dim, normed);
    } else {
      nn::RunNorm(pass, weights_.final_norm, residual, 1, normed);
    }
    if (spec_.output.scale != 1.0f) {
      for (int64_t j = 0; j < dim; ++j) normed[j] *= spec_.output.scale;
    }
    nn::QuantizeRow(pass, work_.normed, i);
  }
  pass.EndPhase(worker, nn::Op::kNorm);
  const nn::LinearJob output{.linear = &weights_.output, .out = logits, .out_stride = spec_.vocab_size};
  nn::RunLinears(worker, pass, std::span(&output, 1), work_.normed, num_rows);
  if (spec_.output.softcap == 0.0f) return;
  pass.EndPhase(worker, nn::Op::kOutput);
  const int64_t num_logits = num_rows * spec_.vocab_size;
  for (int64_t piece; (piece = worker.Claim()) * kSoftcapPiece < num_logits;) {
    const int64_t begin = piece * kSoftcapPiece;
    pass.kernels.softcap({.x = logits + begin,
                          .num_elements = std::min(kSoftcapPiece, num_logits - begin),
                          .cap = spec_.output.softcap});
  }
}

ForwardPass::ForwardPass(std::unique_ptr<State> state) : state_(std::move(state)) {}
ForwardPass::~ForwardPass() = default;

Result<std::unique_ptr<ForwardPass>> ForwardPass::Create(const ModelSpec& spec, const ModelWeights& weights,
                                                         const nn::KvLayout& layout, const nn::ExecContext& context,
                                                         int64_t max_tokens) {
  for (const LayerSpec& layer : spec.layers) {
    ADIT_CHECK(layer.feed_forward_input == FeedForwardInput::kAfterMixer ||
               (layer.norms == NormPlaces::kBefore && spec.residual_scale == 1.0f));
  }
  ADIT_ASSIGN_OR_RETURN(nn::Workspace workspace,
                        nn::Workspace::Create(Measure(spec, weights, context.team.size(), max_tokens)));
  return std::unique_ptr<ForwardPass>(
      new ForwardPass(std::make_unique<State>(spec, weights, layout, context, std::move(workspace))));
}

int64_t ForwardPass::max_tokens() const { return state_->work().max_tokens; }
size_t ForwardPass::scratch_bytes() const { return state_->work().buffer.size_bytes(); }
const nn::OpSeconds& ForwardPass::op_seconds() const { return state_->times().seconds(); }

void ForwardPass::Run(const nn::ForwardBatch& batch, std::byte* kv_pool, float* logits) {
  ADIT_CHECK(logits != nullptr || batch.logit_rows.empty());
  state_->Run(batch, kv_pool, {.logits = logits});
}

void ForwardPass::RunHidden(const nn::ForwardBatch& batch, std::byte* kv_pool, float* hidden) {
  state_->Run(batch, kv_pool, {.hidden = hidden});
}

void ForwardPass::RunHiddenFrom(const float* input, const nn::ForwardBatch& batch, std::byte* kv_pool, float* hidden) {
  state_->Run(batch, kv_pool, {.input = input, .hidden = hidden});
}

}  // namespace adit::models
