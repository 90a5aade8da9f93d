#include "nn/kv_cache.h"

#include <utility>

namespace adit::nn {
namespace {

constexpr size_t kCacheLineBytes = 64;

size_t RoundUp(size_t bytes) { return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes; }

}  // namespace

KvLayout::KvLayout(std::vector<CacheSpec> layers, kernels::KvType type, int block_size)
    : layers_(std::move(layers)), type_(type), block_size_(block_size) {
  for (const CacheSpec& layer : layers_) {
    offsets_.push_back(block_bytes_);
    block_bytes_ += RoundUp(kernels::KvBlockBytes(type, block_size, layer.num_kv_heads, layer.k_dim, layer.v_dim));
  }
}

kernels::KvView KvLayout::View(std::byte* pool, size_t layer) const {
  const CacheSpec& spec = layers_[layer];
  return {.base = pool + offsets_[layer],
          .block_bytes = block_bytes_,
          .type = type_,
          .block_size = block_size_,
          .num_kv_heads = spec.num_kv_heads,
          .k_dim = spec.k_dim,
          .v_dim = spec.v_dim};
}

}  // namespace adit::nn
