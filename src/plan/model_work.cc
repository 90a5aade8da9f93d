#include "plan/model_work.h"

#include <algorithm>
#include <utility>

namespace adit::plan {
namespace {

// Positions that rows see, all together: each its own and those before, as far as the window reaches.
double SeenPositions(const PassRows& rows, int64_t window) {
  double seen = 0.0;
  for (int64_t i = 0; i < rows.num_tokens; ++i) {
    const int64_t all = rows.first_position + i + 1;
    seen += static_cast<double>(window > 0 ? std::min(all, window) : all);
  }
  return seen;
}

// Positions of the cache that at least one row sees.
double ReadPositions(const PassRows& rows, int64_t window) {
  const int64_t all = rows.first_position + rows.num_tokens;
  return static_cast<double>(window > 0 ? std::min(all, window + rows.num_tokens - 1) : all);
}

void AddAttention(const models::ModelSpec& spec, const nn::KvLayout& layout, const PassRows& rows, PassWork& work) {
  double spec_elements = 0.0;  // of keys and values of one token, all layers together
  for (const nn::CacheSpec& layer : layout.layers()) {
    spec_elements += static_cast<double>(layer.num_kv_heads) * (layer.k_dim + layer.v_dim);
  }
  if (spec_elements == 0.0) return;
  const double bytes_per_element = static_cast<double>(layout.bytes_per_token()) / spec_elements;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const auto& shape = std::get<nn::AttentionBlockConfig>(spec.layers[i].mixer).shape;
    const nn::CacheSpec& cache = layout.layers()[i];
    work.f32_ops += 2.0 * shape.num_heads * (shape.k_dim + shape.v_dim) * SeenPositions(rows, cache.window);
    work.kv_bytes +=
        bytes_per_element * cache.num_kv_heads * (cache.k_dim + cache.v_dim) * ReadPositions(rows, cache.window);
  }
}

}  // namespace

PassWork& PassWork::operator+=(const PassWork& other) {
  weight_bytes += other.weight_bytes;
  kv_bytes += other.kv_bytes;
  q8_ops += other.q8_ops;
  bf16_ops += other.bf16_ops;
  f32_ops += other.f32_ops;
  return *this;
}

PassWork WorkOf(const models::ModelSpec& spec, const models::ModelWeights& weights, const nn::KvLayout& layout,
                std::span<const PassRows> sequences) {
  PassWork work{.weight_bytes = static_cast<double>(weights.layer_products.weight_bytes)};
  double num_tokens = 0.0;
  double num_logits = 0.0;
  for (const PassRows& rows : sequences) {
    num_tokens += static_cast<double>(rows.num_tokens);
    num_logits += static_cast<double>(rows.num_logits);
    AddAttention(spec, layout, rows, work);
  }
  if (num_logits > 0.0) work.weight_bytes += static_cast<double>(weights.output_products.weight_bytes);
  const auto ops = [&](int64_t models::ProductCount::*products) {
    return 2.0 * (num_tokens * static_cast<double>(weights.layer_products.*products) +
                  num_logits * static_cast<double>(weights.output_products.*products));
  };
  work.q8_ops += ops(&models::ProductCount::q8);
  work.bf16_ops += ops(&models::ProductCount::bf16);
  work.f32_ops += ops(&models::ProductCount::f32);
  return work;
}

double LeastSeconds(const PassWork& work, const MachineLimits& limits) {
  if (limits.read_bytes_per_s <= 0.0) return 0.0;
  double compute = 0.0;
  for (const auto& [ops, ops_per_s] :
       {std::pair(work.q8_ops, limits.q8_ops_per_s), std::pair(work.bf16_ops, limits.bf16_ops_per_s),
        std::pair(work.f32_ops, limits.f32_ops_per_s)}) {
    if (ops <= 0.0) continue;
    if (ops_per_s <= 0.0) return 0.0;
    compute += ops / ops_per_s;
  }
  return std::max(work.bytes() / limits.read_bytes_per_s, compute);
}

}  // namespace adit::plan
