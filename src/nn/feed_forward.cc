#include "nn/feed_forward.h"

#include <array>

namespace adit::nn {

void RunGatedFeedForward(Worker& worker, const Pass& pass, const GatedFeedForwardConfig& config,
                         const GatedFeedForwardWeights& weights, BlockOutput output) {
  Workspace& work = pass.work;
  const int64_t ffn_dim = config.ffn_dim;
  const std::array<LinearJob, 2> projections = {
      LinearJob{.linear = &weights.gate, .out = work.gate, .out_stride = ffn_dim},
      LinearJob{.linear = &weights.up, .out = work.up, .out_stride = ffn_dim}};
  RunLinears(worker, pass, projections, work.normed, pass.num_tokens());
  pass.EndPhase(worker, Op::kLinear);

  const ActivationRows gated = work.gated.Narrowed(ffn_dim);
  worker.ForRows(pass.num_tokens(), [&](int64_t row) {
    pass.kernels.glu({.gate = work.gate + row * ffn_dim,
                      .up = work.up + row * ffn_dim,
                      .out = gated.Row(row),
                      .num_elements = ffn_dim,
                      .activation = config.activation});
    QuantizeRow(pass, gated, row);
  });
  pass.EndPhase(worker, Op::kActivation);

  RunOutputLinear(worker, pass, weights.down, gated, output);
}

void RunPlainFeedForward(Worker& worker, const Pass& pass, const PlainFeedForwardConfig& config,
                         const PlainFeedForwardWeights& weights, BlockOutput output) {
  const ActivationRows activated = pass.work.gated.Narrowed(config.ffn_dim);
  const LinearJob projection{.linear = &weights.up, .out = activated.f32, .out_stride = config.ffn_dim};
  RunLinears(worker, pass, std::span(&projection, 1), pass.work.normed, pass.num_tokens());
  pass.EndPhase(worker, Op::kLinear);

  worker.ForRows(pass.num_tokens(), [&](int64_t row) {
    pass.kernels.activate({.x = activated.Row(row), .num_elements = config.ffn_dim, .activation = config.activation});
    QuantizeRow(pass, activated, row);
  });
  pass.EndPhase(worker, Op::kActivation);

  RunOutputLinear(worker, pass, weights.down, activated, output);
}

}  // namespace adit::nn
