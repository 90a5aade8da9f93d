#include "nn/kv_cache.h"

#include <algorithm>
#include <map>
#include <utility>

namespace adit::nn {
namespace {

// Layers of a group: as many as possible with at most an eighth of all places empty.
size_t LayersPerGroup(const std::map<int64_t, size_t>& counts, size_t num_layers) {
  size_t fewest = num_layers;
  for (const auto& [window, count] : counts) fewest = std::min(fewest, count);
  for (size_t size = fewest; size > 1; --size) {
    size_t places = 0;
    for (const auto& [window, count] : counts) places += (count + size - 1) / size * size;
    if ((places - num_layers) * 8 <= places) return size;
  }
  return 1;
}

}  // namespace

KvLayout::KvLayout(std::vector<CacheSpec> layers, kernels::KvType k_type, kernels::KvType v_type, int block_size)
    : layers_(std::move(layers)), k_type_(k_type), v_type_(v_type), block_size_(block_size) {
  size_t largest = 0;
  std::map<int64_t, size_t> counts;  // layers of each window
  for (const CacheSpec& layer : layers_) {
    largest = std::max(largest, LayerBytes(layer));
    ++counts[layer.window];
  }
  if (counts.size() == 1) {
    windows_ = {layers_.front().window};
    for (const CacheSpec& layer : layers_) {
      places_.push_back({.group = 0, .offset = block_bytes_});
      block_bytes_ += LayerBytes(layer);
    }
    return;
  }
  const size_t layers_per_group = LayersPerGroup(counts, layers_.size());
  block_bytes_ = layers_per_group * largest;
  std::map<int64_t, Place> next;  // free place of the group that each window is filling
  for (const CacheSpec& layer : layers_) {
    Place& place = next[layer.window];
    if (place.offset % block_bytes_ == 0) {
      place = {.group = windows_.size(), .offset = 0};
      windows_.push_back(layer.window);
    }
    places_.push_back(place);
    place.offset += largest;
  }
}

size_t KvLayout::LayerBytes(const CacheSpec& layer) const {
  return kernels::KvBlockBytes(k_type_, v_type_, block_size_, layer.num_kv_heads, layer.k_dim, layer.v_dim);
}

kernels::KvView KvLayout::View(std::byte* pool, size_t layer) const {
  const CacheSpec& spec = layers_[layer];
  return {.base = pool + places_[layer].offset,
          .block_bytes = block_bytes_,
          .k_type = k_type_,
          .v_type = v_type_,
          .block_size = block_size_,
          .num_kv_heads = spec.num_kv_heads,
          .k_dim = spec.k_dim,
          .v_dim = spec.v_dim};
}

}  // namespace adit::nn
