#ifndef ADIT_KERNELS_ATTENTION_ORACLE_H_
#define ADIT_KERNELS_ATTENTION_ORACLE_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "kernels/kernel_table.h"

// For tests alone: a paged cache with random contents, and what attention over it should give.
namespace adit::kernels {

inline constexpr KvType kKvTypes[] = {KvType::kF32,  KvType::kF16,  KvType::kBF16,
                                      KvType::kQ8_0, KvType::kQ4_0, KvType::kFp8};

struct AttentionShape {
  KvType k_type = KvType::kF16;
  KvType v_type = KvType::kF16;
  int block_size = 16;
  int num_kv_heads = 1;
  int heads_per_kv = 1;
  int k_dim = 64;
  int v_dim = 64;
  int64_t window = 0;
  float softcap = 0.0f;
  bool sees_all = false;  // every query sees all tokens
};
std::ostream& operator<<(std::ostream& out, const AttentionShape& shape);

// One sequence in blocks that lie in random order in the pool. All bytes that no token has written are 0xff: NaN in
// every type, in its scale where there is one.
class PagedSequence {
 public:
  // Stores the tokens of positions [first_stored, num_tokens) with table.store_kv; those before stay unwritten. The
  // keys and values of a position depend on the seed alone.
  PagedSequence(const KernelTable& table, const AttentionShape& shape, int64_t num_tokens, uint32_t seed,
                int64_t first_stored = 0);

  // Queries at positions [first_position, first_position + num_queries), random by position.
  AttendArgs Args(int64_t first_position) const;

  const AttentionShape& shape() const { return shape_; }
  const KvView& kv() const { return kv_; }
  std::span<const int32_t> block_table() const { return block_table_; }
  // Query of a position, all heads: [num_heads, k_dim].
  std::span<const float> query(int64_t position) const;
  // Element of the stored key or value, read from the pool by the layout that attention.h gives.
  float Key(int kv_head, int64_t position, int d) const;
  float Value(int kv_head, int64_t position, int d) const;
  // Scale of its group; 1 where the type has none.
  float KeyScale(int kv_head, int64_t position, int d) const;
  float ValueScale(int kv_head, int64_t position, int d) const;

 private:
  // Bytes of a KV head in the block that holds a position.
  const std::byte* Head(int kv_head, int64_t position) const;
  float Scale(KvType type, const std::byte* scales, int64_t position, int d) const;

  AttentionShape shape_;
  int64_t query_floats_;
  std::vector<float> queries_;
  std::vector<std::byte> pool_;
  std::vector<int32_t> block_table_;
  KvView kv_;
};

// States as attend merges into: [num_queries, heads_per_kv, AttnStateFloats(v_dim)], empty; padding is NaN.
std::vector<float> EmptyStates(const AttentionShape& shape, int64_t num_states);

// Runs table.attend with a fresh scratch of the size that attention.h gives.
void RunAttend(const KernelTable& table, const AttendArgs& args, AttendWork work);

// attend of all chunks, and finish_state: [num_queries, num_heads, v_dim] for queries at [begin, end).
std::vector<float> Attention(const KernelTable& table, const PagedSequence& sequence, int64_t begin, int64_t end);

struct Expected {
  std::vector<double> values;     // [num_queries, num_heads, v_dim]
  std::vector<double> tolerance;  // of each, from the rounding errors of scores, weights and sums
};
Expected ExpectedAttention(const PagedSequence& sequence, int64_t begin, int64_t end);

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_ATTENTION_ORACLE_H_
