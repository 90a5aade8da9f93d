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

// Where the parts of a page lie. A page holds block_size tokens of every layer, one layer after another, so that taking
// or freeing one id takes or frees them all.
class KvLayout {
 public:
  KvLayout(std::vector<CacheSpec> layers, kernels::KvType type, int block_size);

  int block_size() const { return block_size_; }
  kernels::KvType type() const { return type_; }
  size_t block_bytes() const { return block_bytes_; }  // of a page, all layers; a multiple of 64
  size_t bytes_per_token() const { return block_bytes_ / static_cast<size_t>(block_size_); }
  const std::vector<CacheSpec>& layers() const { return layers_; }

  // Layer `layer` of the pool whose page 0 begins at `pool`, 64-byte aligned.
  kernels::KvView View(std::byte* pool, size_t layer) const;

 private:
  std::vector<CacheSpec> layers_;
  std::vector<size_t> offsets_;  // [num_layers], bytes from the start of a page
  kernels::KvType type_;
  int block_size_;
  size_t block_bytes_ = 0;
};

}  // namespace adit::nn

#endif  // ADIT_NN_KV_CACHE_H_
