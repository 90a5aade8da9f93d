#include "plan/model_work.h"

#include <algorithm>
#include <utility>

namespace adit::plan {
namespace {

// Positions that rows see, all together: each its own and those before, as far as the window reaches.
double SeenPositions(const PassRows& rows, int64_t window) {
  // The first `growing` rows see one position more than the row before, the others all of the window.
  const int64_t growing =
      window > 0 ? std::clamp<int64_t>(window - rows.first_position, 0, rows.num_tokens) : rows.num_tokens;
  const double mean = static_cast<double>(rows.first_position) + 0.5 * static_cast<double>(growing + 1);
  return static_cast<double>(growing) * mean + static_cast<double>((rows.num_tokens - growing) * window);
}

// Positions of the cache that at least one row sees.
double ReadPositions(const PassRows& rows, int64_t window) {
  const int64_t all = rows.first_position + rows.num_tokens;
  return static_cast<double>(window > 0 ? std::min(all, window + rows.num_tokens - 1) : all);
}

void AddAttention(const models::ModelSpec& spec, const nn::KvLayout& layout, const PassRows& rows, Work& work) {
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
    work.bytes +=
        bytes_per_element * cache.num_kv_heads * (cache.k_dim + cache.v_dim) * ReadPositions(rows, cache.window);
  }
}

Work WorkOfProducts(const models::ProductCount& products, int64_t num_tokens) {
  const double ops = 2.0 * static_cast<double>(num_tokens);
  return {.bytes = static_cast<double>(products.weight_bytes),
          .q8_ops = ops * static_cast<double>(products.q8),
          .bf16_ops = ops * static_cast<double>(products.bf16),
          .f32_ops = ops * static_cast<double>(products.f32)};
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  bytes += other.bytes;
  q8_ops += other.q8_ops;
  bf16_ops += other.bf16_ops;
  f32_ops += other.f32_ops;
  return *this;
}

Work PassWork::Total() const {
  Work total = linear;
  total += attention;
  total += output;
  return total;
}

PassWork& PassWork::operator+=(const PassWork& other) {
  linear += other.linear;
  attention += other.attention;
  output += other.output;
  return *this;
}

PassWork WorkOf(const models::ModelSpec& spec, const models::ModelWeights& weights, const nn::KvLayout& layout,
                std::span<const PassRows> sequences) {
  PassWork work;
  int64_t num_tokens = 0;
  int64_t num_logits = 0;
  for (const PassRows& rows : sequences) {
    num_tokens += rows.num_tokens;
    num_logits += rows.num_logits;
    AddAttention(spec, layout, rows, work.attention);
  }
  work.linear = WorkOfProducts(weights.layer_products, num_tokens);
  if (num_logits > 0) work.output = WorkOfProducts(weights.output_products, num_logits);
  return work;
}

double LeastSeconds(const Work& work, const MachineLimits& limits) {
  if (limits.read_bytes_per_s <= 0.0) return 0.0;
  double compute = 0.0;
  for (const auto& [ops, ops_per_s] :
       {std::pair(work.q8_ops, limits.q8_ops_per_s), std::pair(work.bf16_ops, limits.bf16_ops_per_s),
        std::pair(work.f32_ops, limits.f32_ops_per_s)}) {
    if (ops <= 0.0) continue;
    if (ops_per_s <= 0.0) return 0.0;
    compute += ops / ops_per_s;
  }
  return std::max(work.bytes / limits.read_bytes_per_s, compute);
}

}  // namespace adit::plan
