#ifndef ADIT_NN_KV_CACHE_H_
#define ADIT_NN_KV_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/attention.h"

namespace adit::nn {

// What one layer keeps of the past: keys and values of each token, in pages.
struct CacheSpec {
  int num_kv_heads = 0;
  int k_dim = 0;
  int v_dim = 0;
  int64_t window = 0;  // positions it looks back, its own included; 0: all
};

// Which layers share pages, and where the parts of a page lie.
//
// Layers that look back equally far form groups of the same number of layers. A page holds block_size tokens of all
// layers of one group, one layer after another; a sequence has one block table for each group. So layers with a window
// can give back the pages behind it while others keep theirs, and yet all pages are of one size and come from one pool.
// A model whose layers all look back equally far has one group. Where the counts do not divide, some groups leave a
// layer's place empty; a group has as many layers as possible with at most an eighth of all places empty.
class KvLayout {
 public:
  KvLayout(std::vector<CacheSpec> layers, kernels::KvType k_type, kernels::KvType v_type, int block_size);

  int block_size() const { return block_size_; }
  kernels::KvType k_type() const { return k_type_; }
  kernels::KvType v_type() const { return v_type_; }
  size_t block_bytes() const { return block_bytes_; }  // of a page; a multiple of 64
  // Of a token that no layer has let go, all groups together.
  size_t bytes_per_token() const { return block_bytes_ * windows_.size() / static_cast<size_t>(block_size_); }
  const std::vector<CacheSpec>& layers() const { return layers_; }

  size_t num_groups() const { return windows_.size(); }
  // How far the layers of each group look back, as CacheSpec::window says.
  const std::vector<int64_t>& windows() const { return windows_; }
  // Precondition: layer < layers().size().
  size_t group_of(size_t layer) const { return places_[layer].group; }

  // Layer `layer` of the pool whose page 0 begins at `pool`, 64-byte aligned.
  kernels::KvView View(std::byte* pool, size_t layer) const;

 private:
  struct Place {
    size_t group = 0;
    size_t offset = 0;  // bytes from the start of a page
  };

  // Of one layer's part of a page.
  size_t LayerBytes(const CacheSpec& layer) const;

  std::vector<CacheSpec> layers_;
  std::vector<Place> places_;     // [num_layers]
  std::vector<int64_t> windows_;  // [num_groups]
  kernels::KvType k_type_;
  kernels::KvType v_type_;
  int block_size_;
  size_t block_bytes_ = 0;
};

}  // namespace adit::nn

#endif  // ADIT_NN_KV_CACHE_H_
