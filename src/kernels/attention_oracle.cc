#include "kernels/attention_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <numeric>

#include "kernels/test_data.h"
#include "tensor/half.h"

namespace adit::kernels {
namespace {

int NumHeads(const AttentionShape& shape) { return shape.num_kv_heads * shape.heads_per_kv; }

// A query whose scores spread over some units, with a few that stand out.
float QueryLimit(const AttentionShape& shape) { return 12.0f / std::sqrt(static_cast<float>(shape.k_dim)); }

template <typename T>
T Read(const std::byte* array, int64_t index) {
  T value;
  std::memcpy(&value, array + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

// Number `index` of an array of stored numbers; where two codes share one, the one of `half`.
float Element(KvType type, const std::byte* array, int64_t index, int half) {
  switch (type) {
    case KvType::kF32:
      return Read<float>(array, index);
    case KvType::kF16:
      return HalfToFloat(Read<uint16_t>(array, index));
    case KvType::kBF16:
      return Bf16ToFloat(Read<uint16_t>(array, index));
    case KvType::kQ8_0:
      return Read<int8_t>(array, index);
    case KvType::kFp8: {
      const int bits = Read<uint8_t>(array, index);
      const double size = bits % 128 < 8 ? std::exp2(-9) * (bits % 8) : std::exp2(bits % 128 / 8 - 10) * (8 + bits % 8);
      if (bits % 128 == 127) return std::numeric_limits<float>::quiet_NaN();
      return static_cast<float>(bits < 128 ? size : -size);
    }
    case KvType::kQ4_0:
      break;
  }
  const int byte = Read<int8_t>(array, index);
  const int low = (byte % 16 + 16) % 16;
  if (half == 1) return static_cast<float>((byte - low) / 16);
  return static_cast<float>(low < 8 ? low : low - 16);
}

// Which number of a key or value holds element d, and which half of it.
struct Place {
  int64_t index;
  int half;
};
Place PlaceOf(KvType type, int d) {
  if (type != KvType::kQ4_0) return {d, 0};
  return {d / 32 * 16 + d % 16, d % 32 / 16};
}

KvHeadLayout Layout(const AttentionShape& shape) {
  return KvHeadLayoutOf(shape.k_type, shape.v_type, shape.block_size, shape.k_dim, shape.v_dim);
}

struct FreeAligned {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const AttentionShape& shape) {
  return out << "types " << static_cast<int>(shape.k_type) << " and " << static_cast<int>(shape.v_type) << ", block "
             << shape.block_size << ", kv heads " << shape.num_kv_heads << " x " << shape.heads_per_kv << ", k_dim "
             << shape.k_dim << ", v_dim " << shape.v_dim << ", window " << shape.window << ", softcap " << shape.softcap
             << (shape.sees_all ? ", sees all" : "");
}

PagedSequence::PagedSequence(const KernelTable& table, const AttentionShape& shape, int64_t num_tokens, uint32_t seed,
                             int64_t first_stored)
    : shape_(shape), query_floats_(int64_t{NumHeads(shape)} * shape.k_dim) {
  RandomFloats random(seed);
  const int64_t num_blocks = (num_tokens + shape.block_size - 1) / shape.block_size;
  const size_t block_bytes = KvBlockBytes(shape.k_type, shape.v_type, shape.block_size, shape.num_kv_heads, shape.k_dim,
                                          shape.v_dim) +
                             64;  // as in a pool
  pool_.assign(static_cast<size_t>(num_blocks + 3) * block_bytes, std::byte{0xff});
  std::vector<int32_t> ids(static_cast<size_t>(num_blocks + 3));
  std::iota(ids.begin(), ids.end(), 0);
  for (size_t i = ids.size() - 1; i > 0; --i)
    std::swap(ids[i], ids[static_cast<size_t>(random.NextInt(0, static_cast<int64_t>(i)))]);
  block_table_.assign(ids.begin(), ids.begin() + num_blocks);
  kv_ = {.base = pool_.data(),
         .block_bytes = block_bytes,
         .k_type = shape.k_type,
         .v_type = shape.v_type,
         .block_size = shape.block_size,
         .num_kv_heads = shape.num_kv_heads,
         .k_dim = shape.k_dim,
         .v_dim = shape.v_dim};
  RandomFloats tokens(seed + 1);
  for (int64_t position = 0; position < num_tokens; ++position) {
    const std::vector<float> q = tokens.Vector(query_floats_, QueryLimit(shape));
    queries_.insert(queries_.end(), q.begin(), q.end());
    MisalignedFloats k(tokens.Vector(int64_t{shape.num_kv_heads} * shape.k_dim, 2.0f));
    MisalignedFloats v(tokens.Vector(int64_t{shape.num_kv_heads} * shape.v_dim));
    if (position < first_stored) continue;
    table.store_kv({.kv = kv_,
                    .block_id = block_table_[static_cast<size_t>(position / shape.block_size)],
                    .slot = static_cast<int>(position % shape.block_size),
                    .k = k.data(),
                    .v = v.data()});
  }
}

AttendArgs PagedSequence::Args(int64_t first_position) const {
  return {.q = queries_.data() + first_position * query_floats_,
          .q_stride = query_floats_,
          .kv = kv_,
          .block_table = block_table_.data(),
          .first_position = first_position,
          .seen_by_all = shape_.sees_all ? static_cast<int64_t>(queries_.size()) / query_floats_ : 0,
          .window = shape_.window,
          .heads_per_kv = shape_.heads_per_kv,
          .scale = 1.0f / std::sqrt(static_cast<float>(shape_.k_dim)),
          .softcap = shape_.softcap};
}

std::span<const float> PagedSequence::query(int64_t position) const {
  return std::span(queries_).subspan(static_cast<size_t>(position * query_floats_), static_cast<size_t>(query_floats_));
}

const std::byte* PagedSequence::Head(int kv_head, int64_t position) const {
  const int32_t block_id = block_table_[static_cast<size_t>(position / shape_.block_size)];
  return pool_.data() + static_cast<size_t>(block_id) * kv_.block_bytes +
         static_cast<size_t>(kv_head) * Layout(shape_).bytes;
}

float PagedSequence::Scale(KvType type, const std::byte* scales, int64_t position, int d) const {
  if (!HasScales(type)) return 1.0f;
  return HalfToFloat(Read<uint16_t>(scales, int64_t{d / kKvGroup} * shape_.block_size + position % shape_.block_size));
}

float PagedSequence::KeyScale(int kv_head, int64_t position, int d) const {
  return Scale(shape_.k_type, Head(kv_head, position) + Layout(shape_).key_scales, position, d);
}

float PagedSequence::ValueScale(int kv_head, int64_t position, int d) const {
  return Scale(shape_.v_type, Head(kv_head, position) + Layout(shape_).value_scales, position, d);
}

float PagedSequence::Key(int kv_head, int64_t position, int d) const {
  const int64_t slot = position % shape_.block_size;
  const std::byte* keys = Head(kv_head, position) + Layout(shape_).keys;
  const Place place = PlaceOf(shape_.k_type, d);
  return Element(shape_.k_type, keys, place.index * shape_.block_size + slot, place.half) *
         KeyScale(kv_head, position, d);
}

float PagedSequence::Value(int kv_head, int64_t position, int d) const {
  const int64_t slot = position % shape_.block_size;
  const std::byte* values = Head(kv_head, position) + Layout(shape_).values;
  const std::byte* row = values + static_cast<size_t>(slot) * KvTokenBytes(shape_.v_type, shape_.v_dim);
  const Place place = PlaceOf(shape_.v_type, d);
  return Element(shape_.v_type, row, place.index, place.half) * ValueScale(kv_head, position, d);
}

std::vector<float> EmptyStates(const AttentionShape& shape, int64_t num_states) {
  const int64_t state_floats = AttnStateFloats(shape.v_dim);
  std::vector<float> states(static_cast<size_t>(num_states * state_floats), std::numeric_limits<float>::quiet_NaN());
  for (int64_t i = 0; i < num_states; ++i) {
    float* state = states.data() + i * state_floats;
    state[0] = -std::numeric_limits<float>::infinity();
    std::fill_n(state + 1, shape.v_dim + 1, 0.0f);
  }
  return states;
}

void RunAttend(const KernelTable& table, const AttendArgs& args, AttendWork work) {
  const auto floats = static_cast<size_t>(AttendScratchFloats(args.heads_per_kv, args.kv.v_dim));
  const std::unique_ptr<float[], FreeAligned> scratch(new (std::align_val_t{64}) float[floats]);
  std::fill_n(scratch.get(), floats, std::numeric_limits<float>::quiet_NaN());
  work.scratch = scratch.get();
  table.attend(args, work);
}

std::vector<float> Attention(const KernelTable& table, const PagedSequence& sequence, int64_t begin, int64_t end) {
  const AttentionShape& shape = sequence.shape();
  const int64_t state_floats = AttnStateFloats(shape.v_dim);
  std::vector<float> out(static_cast<size_t>((end - begin) * NumHeads(shape) * shape.v_dim));
  const AttendArgs args = sequence.Args(begin);
  for (int kv_head = 0; kv_head < shape.num_kv_heads; ++kv_head) {
    for (int64_t query = 0; query < end - begin; query += kMaxAttendQueries) {
      const int64_t query_end = std::min(query + kMaxAttendQueries, end - begin);
      std::vector<float> states = EmptyStates(shape, (query_end - query) * shape.heads_per_kv);
      RunAttend(table, args,
                {.kv_head = kv_head,
                 .query_begin = query,
                 .query_end = query_end,
                 .chunk_begin = 0,
                 .chunk_end = (end + kAttentionChunk - 1) / kAttentionChunk,
                 .states = states.data()});
      for (int64_t row = 0; row < (query_end - query) * shape.heads_per_kv; ++row) {
        const int64_t head = kv_head * shape.heads_per_kv + row % shape.heads_per_kv;
        const int64_t out_row = (query + row / shape.heads_per_kv) * NumHeads(shape) + head;
        table.finish_state(states.data() + row * state_floats, out.data() + out_row * shape.v_dim, shape.v_dim);
      }
    }
  }
  return out;
}

namespace {

// The stored keys and values of positions 0..num_tokens - 1, [num_kv_heads, num_tokens, dim].
struct Elements {
  std::vector<float> keys;
  std::vector<float> values;
  int64_t num_tokens;
};
Elements ReadElements(const PagedSequence& sequence, int64_t num_tokens) {
  const AttentionShape& shape = sequence.shape();
  Elements elements = {.keys = {}, .values = {}, .num_tokens = num_tokens};
  for (int kv_head = 0; kv_head < shape.num_kv_heads; ++kv_head) {
    for (int64_t t = 0; t < num_tokens; ++t) {
      for (int d = 0; d < shape.k_dim; ++d) elements.keys.push_back(sequence.Key(kv_head, t, d));
      for (int d = 0; d < shape.v_dim; ++d) elements.values.push_back(sequence.Value(kv_head, t, d));
    }
  }
  return elements;
}

// Absolute error of tanh and of the products around it.
constexpr double kTanhError = 8 * kEpsilon;

// One query and head; appends v_dim values and tolerances.
void ExpectRow(const PagedSequence& sequence, const Elements& elements, int64_t position, int head,
               Expected& expected) {
  const AttentionShape& shape = sequence.shape();
  const int kv_head = head / shape.heads_per_kv;
  const auto q = sequence.query(position).subspan(static_cast<size_t>(head * shape.k_dim));
  const double scale = sequence.Args(position).scale;
  const int64_t begin = shape.window > 0 ? std::max<int64_t>(0, position - shape.window + 1) : 0;
  std::vector<double> scores;
  double score_error = 0.0;
  double largest_score = 0.0;
  const int64_t end = shape.sees_all ? elements.num_tokens : position + 1;
  for (int64_t t = begin; t < end; ++t) {
    const float* key = elements.keys.data() + (kv_head * elements.num_tokens + t) * shape.k_dim;
    double score = 0.0;
    double magnitude = 0.0;
    for (int d = 0; d < shape.k_dim; ++d) {
      const double product = double{q[static_cast<size_t>(d)]} * key[d];
      score += scale * product;
      magnitude += scale * std::abs(product);
    }
    score_error = std::max(score_error, (shape.k_dim + 4) * kEpsilon * magnitude);
    if (shape.softcap > 0.0f) {
      score = shape.softcap * std::tanh(score / shape.softcap);
      score_error = std::max(score_error, (shape.k_dim + 4) * kEpsilon * magnitude + kTanhError * shape.softcap);
    }
    scores.push_back(score);
    largest_score = std::max(largest_score, std::abs(score));
  }
  const double max = *std::ranges::max_element(scores);
  std::vector<double> weights;
  double sum = 0.0;
  for (const double score : scores) sum += weights.emplace_back(std::exp(score - max));
  // Relative error of a weight: of both scores in the exponent, of their difference, of the exponential, of the product
  // with a scale; of a merge: the exponential again and two roundings. Then each sum rounds once for each position.
  const auto n = static_cast<double>(scores.size());
  const double merges = std::ceil(n / static_cast<double>(kAttentionChunk)) + 1;
  const double one_weight = 2 * score_error + (2 * largest_score + 4) * kEpsilon;
  const double one_merge = (2 * largest_score + 5) * kEpsilon;
  const double relative = 2 * (one_weight + merges * one_merge + n * kEpsilon) + 2 * kEpsilon;
  for (int d = 0; d < shape.v_dim; ++d) {
    const float* values = elements.values.data() + (kv_head * elements.num_tokens + begin) * shape.v_dim + d;
    double value = 0.0;
    double magnitude = 0.0;
    for (size_t i = 0; i < scores.size(); ++i) {
      const double product = weights[i] * values[static_cast<int64_t>(i) * shape.v_dim];
      value += product;
      magnitude += std::abs(product);
    }
    expected.values.push_back(value / sum);
    expected.tolerance.push_back(relative * magnitude / sum);
  }
}

}  // namespace

Expected ExpectedAttention(const PagedSequence& sequence, int64_t begin, int64_t end) {
  Expected expected;
  const Elements elements = ReadElements(sequence, end);
  for (int64_t position = begin; position < end; ++position) {
    for (int head = 0; head < NumHeads(sequence.shape()); ++head)
      ExpectRow(sequence, elements, position, head, expected);
  }
  return expected;
}

}  // namespace adit::kernels
