#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/ref/kernels.h"
#include "kernels/ref/kv_type.h"
#include "tensor/half.h"

// softmax(scale * q k^T) v, in float32, chunk of positions by chunk. Every sum runs in the order of its index, each
// product and each addition rounded.
namespace adit::kernels::ref {
namespace {

// Positions [begin, end).
struct Range {
  int64_t begin;
  int64_t end;
  bool empty() const { return begin >= end; }
};

// What a query at `position` sees of a chunk.
Range VisibleInChunk(const AttendArgs& args, int64_t position, int64_t chunk) {
  const int64_t first = args.window > 0 ? std::max<int64_t>(0, position - args.window + 1) : 0;
  return {std::max(first, chunk * kAttentionChunk),
          std::min(std::max(position + 1, args.seen_by_all), (chunk + 1) * kAttentionChunk)};
}

// Calls body(block_id, slots, offset) for each block that holds positions of `range`: the slots of the block, and how
// many positions of the range came before.
template <typename Body>
void ForEachBlock(const AttendArgs& args, Range range, Body body) {
  const int64_t block_size = args.kv.block_size;
  for (int64_t position = range.begin; position < range.end;) {
    const int64_t block = position / block_size;
    const int64_t end = std::min(range.end, (block + 1) * block_size);
    const Range slots = {position - block * block_size, end - block * block_size};
    body(args.block_table[block], slots, position - range.begin);
    position = end;
  }
}

// scores[i] = scale * q . key of position range.begin + i. Codes are summed over each group, and the sum times its
// scale is added.
template <typename Type>
void Scores(const AttendArgs& args, int kv_head, const float* q, Range range, float* scores) {
  const int k_dim = args.kv.k_dim;
  const int64_t block_size = args.kv.block_size;
  ForEachBlock(args, range, [&](int32_t block_id, Range slots, int64_t offset) {
    const HeadArray<Type> keys = KeysOf<Type>(args.kv, block_id, kv_head);
    const int64_t n = slots.end - slots.begin;
    float* out = scores + offset;
    std::fill_n(out, n, 0.0f);
    for (int begin = 0; begin < k_dim; begin += GroupSize<Type>(k_dim)) {
      float sums[kAttentionChunk] = {};
      for (int d = begin; d < std::min(k_dim, begin + GroupSize<Type>(k_dim)); ++d) {
        const Place place = Type::PlaceOf(d);
        const auto* row = keys.elements + place.index * block_size + slots.begin;
        for (int64_t i = 0; i < n; ++i) sums[i] += q[d] * Type::Widen(row[i], place.half);
      }
      const uint16_t* scale = keys.scales + begin / kKvGroup * block_size + slots.begin;
      for (int64_t i = 0; i < n; ++i) out[i] = kHasScales<Type> ? out[i] + sums[i] * HalfToFloat(scale[i]) : sums[i];
    }
    for (int64_t i = 0; i < n; ++i) out[i] *= args.scale;
  });
}

// sum[d] = sum over i of weights[i] * value of position range.begin + i. Codes are multiplied by weight times scale.
template <typename Type>
void WeightedValues(const AttendArgs& args, int kv_head, const float* weights, Range range, float* sum) {
  const int v_dim = args.kv.v_dim;
  std::fill_n(sum, v_dim, 0.0f);
  ForEachBlock(args, range, [&](int32_t block_id, Range slots, int64_t offset) {
    const HeadArray<Type> values = ValuesOf<Type>(args.kv, block_id, kv_head);
    for (int64_t slot = slots.begin; slot < slots.end; ++slot) {
      const auto* row = values.elements + slot * RowSize<Type>(args.kv);
      for (int begin = 0; begin < v_dim; begin += GroupSize<Type>(v_dim)) {
        float weight = weights[offset + slot - slots.begin];
        if constexpr (kHasScales<Type>) {
          weight *= HalfToFloat(values.scales[begin / kKvGroup * int64_t{args.kv.block_size} + slot]);
        }
        for (int d = begin; d < std::min(v_dim, begin + GroupSize<Type>(v_dim)); ++d) {
          const Place place = Type::PlaceOf(d);
          sum[d] += weight * Type::Widen(row[place.index], place.half);
        }
      }
    }
  });
}

// Indexed by KvType.
constexpr void (*kScores[kNumKvTypes])(const AttendArgs&, int, const float*, Range, float*) = {
    Scores<KvF32>, Scores<KvF16>, Scores<KvBF16>, Scores<KvQ8_0>, Scores<KvQ4_0>, Scores<KvFp8>};
constexpr void (*kWeightedValues[kNumKvTypes])(const AttendArgs&, int, const float*, Range, float*) = {
    WeightedValues<KvF32>,  WeightedValues<KvF16>,  WeightedValues<KvBF16>,
    WeightedValues<KvQ8_0>, WeightedValues<KvQ4_0>, WeightedValues<KvFp8>};

// The state of one query and head over the positions of `range`, which lie in one chunk.
void AttendChunk(const AttendArgs& args, int kv_head, const float* q, Range range, float* state) {
  float weights[kAttentionChunk] = {};
  const int64_t n = range.end - range.begin;
  kScores[static_cast<int>(args.kv.k_type)](args, kv_head, q, range, weights);
  if (args.softcap > 0.0f) Softcap({.x = weights, .num_elements = n, .cap = args.softcap});
  const float largest = *std::max_element(weights, weights + n);
  float sum = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    weights[i] = std::exp(weights[i] - largest);
    sum += weights[i];
  }
  state[0] = largest;
  state[1] = sum;
  kWeightedValues[static_cast<int>(args.kv.v_type)](args, kv_head, weights, range, state + 2);
}

bool IsEmpty(const float* state) { return state[0] == -std::numeric_limits<float>::infinity() && state[1] == 0.0f; }

// One token's key or value of one head, whose elements' places are `stride` apart.
template <typename Type>
void StoreElements(const KvView& kv, HeadArray<Type> to, const float* x, int dim, int64_t stride, int slot) {
  for (int begin = 0; begin < dim; begin += GroupSize<Type>(dim)) {
    const int end = std::min(dim, begin + GroupSize<Type>(dim));
    [[maybe_unused]] float scale = 1.0f;
    if constexpr (kHasScales<Type>) {
      const uint16_t half = ScaleOf<Type>(x + begin, end - begin);
      to.scales[int64_t{begin} / kKvGroup * kv.block_size + slot] = half;
      scale = HalfToFloat(half);
    }
    for (int d = begin; d < end; ++d) {
      const Place place = Type::PlaceOf(d);
      auto& stored = to.elements[place.index * stride];
      if constexpr (kHasScales<Type>) {
        Type::Insert(stored, CodeOf<Type>(x[d], scale), place.half);
      } else {
        stored = Type::Narrow(x[d]);
      }
    }
  }
}

template <typename Type>
void StoreKeys(const StoreKvArgs& args) noexcept {
  const KvView& kv = args.kv;
  for (int head = 0; head < kv.num_kv_heads; ++head) {
    HeadArray<Type> keys = KeysOf<Type>(kv, args.block_id, head);
    keys.elements += args.slot;
    const float* k = args.k + static_cast<int64_t>(head) * kv.k_dim;
    StoreElements<Type>(kv, keys, k, kv.k_dim, kv.block_size, args.slot);
  }
}

template <typename Type>
void StoreValues(const StoreKvArgs& args) noexcept {
  const KvView& kv = args.kv;
  for (int head = 0; head < kv.num_kv_heads; ++head) {
    HeadArray<Type> values = ValuesOf<Type>(kv, args.block_id, head);
    values.elements += args.slot * RowSize<Type>(kv);
    const float* v = args.v + static_cast<int64_t>(head) * kv.v_dim;
    StoreElements<Type>(kv, values, v, kv.v_dim, 1, args.slot);
  }
}

// Indexed by KvType.
constexpr void (*kStoreKeys[kNumKvTypes])(const StoreKvArgs&) noexcept = {
    StoreKeys<KvF32>, StoreKeys<KvF16>, StoreKeys<KvBF16>, StoreKeys<KvQ8_0>, StoreKeys<KvQ4_0>, StoreKeys<KvFp8>};
constexpr void (*kStoreValues[kNumKvTypes])(const StoreKvArgs&) noexcept = {StoreValues<KvF32>,  StoreValues<KvF16>,
                                                                            StoreValues<KvBF16>, StoreValues<KvQ8_0>,
                                                                            StoreValues<KvQ4_0>, StoreValues<KvFp8>};

}  // namespace

void StoreKv(const StoreKvArgs& args) noexcept {
  ADIT_DCHECK(args.slot >= 0 && args.slot < args.kv.block_size);
  kStoreKeys[static_cast<int>(args.kv.k_type)](args);
  kStoreValues[static_cast<int>(args.kv.v_type)](args);
}

void Attend(const AttendArgs& args, const AttendWork& work) noexcept {
  ADIT_DCHECK(work.query_end - work.query_begin <= kMaxAttendQueries);
  ADIT_DCHECK(args.kv.block_size % 16 == 0);
  const int64_t state_floats = AttnStateFloats(args.kv.v_dim);
  float* state = work.states;
  for (int64_t query = work.query_begin; query < work.query_end; ++query) {
    for (int h = 0; h < args.heads_per_kv; ++h, state += state_floats) {
      const int64_t head = static_cast<int64_t>(work.kv_head) * args.heads_per_kv + h;
      const float* q = args.q + query * args.q_stride + head * args.kv.k_dim;
      for (int64_t chunk = work.chunk_begin; chunk < work.chunk_end; ++chunk) {
        const Range range = VisibleInChunk(args, args.first_position + query, chunk);
        if (range.empty()) continue;
        AttendChunk(args, work.kv_head, q, range, work.scratch);
        MergeStates(work.scratch, state, args.kv.v_dim);
      }
    }
  }
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
