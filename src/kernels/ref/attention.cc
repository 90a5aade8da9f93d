#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/ref/kernels.h"
#include "tensor/half.h"

// softmax(scale * q k^T) v, in float32, chunk of positions by chunk. Every sum runs in the order of its index, each
// product and each addition rounded.
namespace adit::kernels::ref {
namespace {

// How each KvType stores an element.
struct F32 {
  using Stored = float;
  static float Widen(Stored x) { return x; }
  static Stored Narrow(float x) { return x; }
};
struct F16 {
  using Stored = uint16_t;
  static float Widen(Stored x) { return HalfToFloat(x); }
  static Stored Narrow(float x) { return FloatToHalf(x); }
};
struct BF16 {
  using Stored = uint16_t;
  static float Widen(Stored x) { return Bf16ToFloat(x); }
  static Stored Narrow(float x) { return FloatToBf16(x); }
};

// Keys and values of one KV head in one block.
template <typename Type>
struct HeadBlock {
  typename Type::Stored* keys;    // [k_dim, block_size]
  typename Type::Stored* values;  // [block_size, v_dim]

  HeadBlock(const KvView& kv, int32_t block_id, int kv_head) {
    auto* block = reinterpret_cast<typename Type::Stored*>(kv.base + static_cast<size_t>(block_id) * kv.block_bytes);
    keys = block + static_cast<int64_t>(kv_head) * (kv.k_dim + kv.v_dim) * kv.block_size;
    values = keys + static_cast<int64_t>(kv.k_dim) * kv.block_size;
  }
};

// Positions [begin, end).
struct Range {
  int64_t begin;
  int64_t end;
  bool empty() const { return begin >= end; }
};

// What a query at `position` sees of a chunk.
Range VisibleInChunk(const AttendArgs& args, int64_t position, int64_t chunk) {
  const int64_t first = args.window > 0 ? std::max<int64_t>(0, position - args.window + 1) : 0;
  return {std::max(first, chunk * kAttentionChunk), std::min(position + 1, (chunk + 1) * kAttentionChunk)};
}

// Calls body(block, slots, offset) for each block that holds positions of `range`: the slots of the block, and how many
// positions of the range came before.
template <typename Type, typename Body>
void ForEachBlock(const AttendArgs& args, int kv_head, Range range, Body body) {
  const int64_t block_size = args.kv.block_size;
  for (int64_t position = range.begin; position < range.end;) {
    const int64_t block = position / block_size;
    const int64_t end = std::min(range.end, (block + 1) * block_size);
    const Range slots = {position - block * block_size, end - block * block_size};
    body(HeadBlock<Type>(args.kv, args.block_table[block], kv_head), slots, position - range.begin);
    position = end;
  }
}

// scores[i] = scale * q . key of position range.begin + i
template <typename Type>
void Scores(const AttendArgs& args, int kv_head, const float* q, Range range, float* scores) {
  ForEachBlock<Type>(args, kv_head, range, [&](HeadBlock<Type> block, Range slots, int64_t offset) {
    const int64_t n = slots.end - slots.begin;
    float* out = scores + offset;
    std::fill_n(out, n, 0.0f);
    for (int d = 0; d < args.kv.k_dim; ++d) {
      const auto* keys = block.keys + static_cast<int64_t>(d) * args.kv.block_size + slots.begin;
      for (int64_t i = 0; i < n; ++i) out[i] += q[d] * Type::Widen(keys[i]);
    }
    for (int64_t i = 0; i < n; ++i) out[i] *= args.scale;
  });
}

// sum[d] = sum over i of weights[i] * value of position range.begin + i
template <typename Type>
void WeightedValues(const AttendArgs& args, int kv_head, const float* weights, Range range, float* sum) {
  const int v_dim = args.kv.v_dim;
  std::fill_n(sum, v_dim, 0.0f);
  ForEachBlock<Type>(args, kv_head, range, [&](HeadBlock<Type> block, Range slots, int64_t offset) {
    for (int64_t slot = slots.begin; slot < slots.end; ++slot) {
      const float weight = weights[offset + slot - slots.begin];
      const auto* value = block.values + slot * v_dim;
      for (int d = 0; d < v_dim; ++d) sum[d] += weight * Type::Widen(value[d]);
    }
  });
}

// The state of one query and head over the positions of `range`, which lie in one chunk.
template <typename Type>
void AttendChunk(const AttendArgs& args, int kv_head, const float* q, Range range, float* state) {
  float weights[kAttentionChunk] = {};
  const int64_t n = range.end - range.begin;
  Scores<Type>(args, kv_head, q, range, weights);
  const float largest = *std::max_element(weights, weights + n);
  float sum = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    weights[i] = std::exp(weights[i] - largest);
    sum += weights[i];
  }
  state[0] = largest;
  state[1] = sum;
  WeightedValues<Type>(args, kv_head, weights, range, state + 2);
}

bool IsEmpty(const float* state) { return state[0] == -std::numeric_limits<float>::infinity() && state[1] == 0.0f; }

template <typename Type>
void AttendTyped(const AttendArgs& args, const AttendWork& work) noexcept {
  const int64_t state_floats = AttnStateFloats(args.kv.v_dim);
  float* state = work.states;
  for (int64_t query = work.query_begin; query < work.query_end; ++query) {
    for (int h = 0; h < args.heads_per_kv; ++h, state += state_floats) {
      const int64_t head = static_cast<int64_t>(work.kv_head) * args.heads_per_kv + h;
      const float* q = args.q + query * args.q_stride + head * args.kv.k_dim;
      for (int64_t chunk = work.chunk_begin; chunk < work.chunk_end; ++chunk) {
        const Range range = VisibleInChunk(args, args.first_position + query, chunk);
        if (range.empty()) continue;
        AttendChunk<Type>(args, work.kv_head, q, range, work.scratch);
        MergeStates(work.scratch, state, args.kv.v_dim);
      }
    }
  }
}

template <typename Type>
void StoreKvTyped(const StoreKvArgs& args) noexcept {
  const KvView& kv = args.kv;
  for (int head = 0; head < kv.num_kv_heads; ++head) {
    const HeadBlock<Type> block(kv, args.block_id, head);
    const float* k = args.k + static_cast<int64_t>(head) * kv.k_dim;
    const float* v = args.v + static_cast<int64_t>(head) * kv.v_dim;
    for (int64_t d = 0; d < kv.k_dim; ++d) block.keys[d * kv.block_size + args.slot] = Type::Narrow(k[d]);
    for (int64_t d = 0; d < kv.v_dim; ++d) block.values[args.slot * int64_t{kv.v_dim} + d] = Type::Narrow(v[d]);
  }
}

// Indexed by KvType.
constexpr void (*kAttendByType[])(const AttendArgs&, const AttendWork&) noexcept = {AttendTyped<F32>, AttendTyped<F16>,
                                                                                    AttendTyped<BF16>};
constexpr void (*kStoreByType[])(const StoreKvArgs&) noexcept = {StoreKvTyped<F32>, StoreKvTyped<F16>,
                                                                 StoreKvTyped<BF16>};

}  // namespace

void StoreKv(const StoreKvArgs& args) noexcept {
  ADIT_DCHECK(args.slot >= 0 && args.slot < args.kv.block_size);
  kStoreByType[static_cast<int>(args.kv.type)](args);
}

void Attend(const AttendArgs& args, const AttendWork& work) noexcept {
  ADIT_DCHECK(work.query_end - work.query_begin <= kMaxAttendQueries);
  ADIT_DCHECK(args.kv.block_size % 16 == 0);
  kAttendByType[static_cast<int>(args.kv.type)](args, work);
}

// A state that is merged with an empty one keeps its bits.
void MergeStates(const float* from, float* into, int v_dim) noexcept {
  if (IsEmpty(from)) return;
  if (IsEmpty(into)) {
    std::copy_n(from, v_dim + 2, into);
    return;
  }
  const float largest = std::max(into[0], from[0]);
  const float keep = std::exp(into[0] - largest);
  const float add = std::exp(from[0] - largest);
  into[0] = largest;
  for (int i = 1; i < v_dim + 2; ++i) into[i] = into[i] * keep + from[i] * add;
}

void FinishState(const float* state, float* out, int v_dim) noexcept {
  for (int d = 0; d < v_dim; ++d) out[d] = state[2 + d] / state[1];
}

}  // namespace adit::kernels::ref
