#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "kernels_bench.h"

namespace adit::bench {
namespace {

using kernels::AttendArgs;
using kernels::AttendWork;
using kernels::KernelTable;
using kernels::KvType;
using kernels::KvView;

struct Shape {
  const char* name;
  int num_kv_heads;
  int heads_per_kv;
  int head_dim;
  int64_t depth = 0;        // positions that the last query sees
  int64_t num_queries = 1;  // 1: decode
  int num_sequences = 1;    // taken in turn; so many that the caches cannot hold them, or one
  KvType k_type = KvType::kF16;
  KvType v_type = KvType::kF16;
  int block_size = 16;
};

// Sequences in one pool, their blocks in random order.
class Sequences {
 public:
  explicit Sequences(const Shape& shape) : shape_(shape) {
    blocks_each_ = (shape.depth + shape.block_size - 1) / shape.block_size;
    const size_t block_bytes = kernels::KvBlockBytes(shape.k_type, shape.v_type, shape.block_size, shape.num_kv_heads,
                                                     shape.head_dim, shape.head_dim);
    const auto num_blocks = static_cast<size_t>(blocks_each_ * shape.num_sequences);
    pool_ = Allocate(num_blocks * block_bytes);
    // A half or a bfloat16 of 0x3800..0x3bff, or a float of such halves, is a small positive number; codes may be any.
    std::mt19937 random(2);
    auto* halves = pool_.as<uint16_t>();
    for (size_t i = 0; i < pool_.size_bytes() / 2; ++i) halves[i] = static_cast<uint16_t>(0x3800 + i * 7 % 0x400);
    for (size_t i = 0; i < num_blocks; ++i) block_table_.push_back(static_cast<int32_t>(i));
    std::ranges::shuffle(block_table_, random);
    kv_ = {.base = pool_.data(),
           .block_bytes = block_bytes,
           .k_type = shape.k_type,
           .v_type = shape.v_type,
           .block_size = shape.block_size,
           .num_kv_heads = shape.num_kv_heads,
           .k_dim = shape.head_dim,
           .v_dim = shape.head_dim};
    q_ = RandomFloats(shape.num_queries * NumHeads() * shape.head_dim);
    scratch_ = Allocate(static_cast<size_t>(kernels::AttendScratchFloats(shape.heads_per_kv, shape.head_dim)) * 4);
    states_.resize(
        static_cast<size_t>(shape.num_queries * shape.heads_per_kv * kernels::AttnStateFloats(shape.head_dim)));
  }

  // All heads of one sequence.
  void Attend(const KernelTable& table, int64_t sequence) {
    AttendArgs args = {.q = q_.data(),
                       .q_stride = NumHeads() * shape_.head_dim,
                       .kv = kv_,
                       .block_table = block_table_.data() + sequence % shape_.num_sequences * blocks_each_,
                       .first_position = shape_.depth - shape_.num_queries,
                       .heads_per_kv = shape_.heads_per_kv,
                       .scale = 0.125f};
    for (int kv_head = 0; kv_head < shape_.num_kv_heads; ++kv_head) {
      std::ranges::fill(states_, 0.0f);
      for (size_t i = 0; i < states_.size(); i += static_cast<size_t>(kernels::AttnStateFloats(shape_.head_dim))) {
        states_[i] = -std::numeric_limits<float>::infinity();
      }
      table.attend(args, {.kv_head = kv_head,
                          .query_begin = 0,
                          .query_end = shape_.num_queries,
                          .chunk_begin = 0,
                          .chunk_end = (shape_.depth + kernels::kAttentionChunk - 1) / kernels::kAttentionChunk,
                          .states = states_.data(),
                          .scratch = scratch_.as<float>()});
      benchmark::ClobberMemory();
    }
  }

  int64_t NumHeads() const { return int64_t{shape_.num_kv_heads} * shape_.heads_per_kv; }
  // Of one sequence's keys and values.
  double Bytes() const { return static_cast<double>(blocks_each_) * static_cast<double>(kv_.block_bytes); }
  double Operations() const {
    const double seen = static_cast<double>(shape_.depth) - static_cast<double>(shape_.num_queries - 1) / 2;
    return 4.0 * seen * static_cast<double>(shape_.num_queries * NumHeads() * shape_.head_dim);
  }

 private:
  static AlignedBuffer Allocate(size_t bytes) {
    Result<AlignedBuffer> buffer = AlignedBuffer::Allocate(bytes, "benchmark");
    ADIT_CHECK(buffer.ok());
    return std::move(buffer).value();
  }

  Shape shape_;
  int64_t blocks_each_;
  AlignedBuffer pool_;
  AlignedBuffer scratch_;
  std::vector<int32_t> block_table_;
  std::vector<float> q_;
  std::vector<float> states_;
  KvView kv_;
};

constexpr Shape kShapes[] = {
    {.name = "decode_l3_3x3x64_2048",
     .num_kv_heads = 3,
     .heads_per_kv = 3,
     .head_dim = 64,
     .depth = 2048,
     .num_queries = 1,
     .num_sequences = 1},
    {.name = "decode_mem_3x3x64_2048",
     .num_kv_heads = 3,
     .heads_per_kv = 3,
     .head_dim = 64,
     .depth = 2048,
     .num_queries = 1,
     .num_sequences = 40},
    {.name = "decode_mem_8x4x128_2048",
     .num_kv_heads = 8,
     .heads_per_kv = 4,
     .head_dim = 128,
     .depth = 2048,
     .num_queries = 1,
     .num_sequences = 16},
    {.name = "decode_mem_2x7x64_2048",
     .num_kv_heads = 2,
     .heads_per_kv = 7,
     .head_dim = 64,
     .depth = 2048,
     .num_queries = 1,
     .num_sequences = 40},
    {.name = "decode_mem_32x1x128_2048",
     .num_kv_heads = 32,
     .heads_per_kv = 1,
     .head_dim = 128,
     .depth = 2048,
     .num_queries = 1,
     .num_sequences = 4},
    {.name = "decode_mem_3x3x64_2048_f32",
     .num_kv_heads = 3,
     .heads_per_kv = 3,
     .head_dim = 64,
     .depth = 2048,
     .num_queries = 1,
     .num_sequences = 20,
     .k_type = KvType::kF32,
     .v_type = KvType::kF32},
    {.name = "decode_mem_3x3x64_2048_block64",
     .num_kv_heads = 3,
     .heads_per_kv = 3,
     .head_dim = 64,
     .depth = 2048,
     .num_queries = 1,
     .num_sequences = 40,
     .block_size = 64},
    {.name = "prefill_3x3x64_2048",
     .num_kv_heads = 3,
     .heads_per_kv = 3,
     .head_dim = 64,
     .depth = 2048,
     .num_queries = 16,
     .num_sequences = 1},
    {.name = "prefill_8x4x128_2048",
     .num_kv_heads = 8,
     .heads_per_kv = 4,
     .head_dim = 128,
     .depth = 2048,
     .num_queries = 16,
     .num_sequences = 1},
    {.name = "prefill_3x3x64_256",
     .num_kv_heads = 3,
     .heads_per_kv = 3,
     .head_dim = 64,
     .depth = 256,
     .num_queries = 16,
     .num_sequences = 1},
    {.name = "prefill_3x3x64_2048_f32",
     .num_kv_heads = 3,
     .heads_per_kv = 3,
     .head_dim = 64,
     .depth = 2048,
     .num_queries = 16,
     .num_sequences = 1,
     .k_type = KvType::kF32,
     .v_type = KvType::kF32},
};

struct TypePair {
  const char* name;
  KvType k_type;
  KvType v_type;
};
constexpr TypePair kTypePairs[] = {
    {"f32", KvType::kF32, KvType::kF32},    {"f16", KvType::kF16, KvType::kF16},
    {"bf16", KvType::kBF16, KvType::kBF16}, {"q8_0", KvType::kQ8_0, KvType::kQ8_0},
    {"q4_0", KvType::kQ4_0, KvType::kQ4_0}, {"q8_0_q4_0", KvType::kQ8_0, KvType::kQ4_0},
};

// Decode at depth 4096 from memory: sequences enough that no cache holds them.
constexpr Shape kTypeShapes[] = {
    {.name = "3x3x64", .num_kv_heads = 3, .heads_per_kv = 3, .head_dim = 64},
    {.name = "8x4x128", .num_kv_heads = 8, .heads_per_kv = 4, .head_dim = 128},
};

Shape DecodeFromMemory(Shape shape, const TypePair& types) {
  constexpr double kPoolBytes = 160e6;
  shape.depth = 4096;
  shape.num_queries = 1;
  shape.k_type = types.k_type;
  shape.v_type = types.v_type;
  const size_t block_bytes = kernels::KvBlockBytes(types.k_type, types.v_type, shape.block_size, shape.num_kv_heads,
                                                   shape.head_dim, shape.head_dim);
  const double blocks = static_cast<double>(shape.depth) / shape.block_size;
  shape.num_sequences = static_cast<int>(kPoolBytes / (blocks * static_cast<double>(block_bytes)));
  return shape;
}

benchmark::internal::Benchmark* RegisterShape(const KernelTable& table, const std::string& name, const Shape& shape) {
  return benchmark::RegisterBenchmark(name.c_str(), [&table, shape](benchmark::State& state) {
    Sequences sequences(shape);
    int64_t turn = 0;
    for (auto _ : state) sequences.Attend(table, turn++);
    // Rates are added up over threads, and the time of an iteration is that of all of them already.
    const double share = 1.0 / state.threads();
    SetRates(state, sequences.Bytes() * share, sequences.Operations() * share);
    state.counters["tokens/s"] =
        benchmark::Counter(static_cast<double>(shape.depth) * share, benchmark::Counter::kIsIterationInvariantRate);
  });
}

}  // namespace

void RegisterAttend(const KernelTable& table) {
  const std::string prefix = std::string("attend/") + table.name + "/";
  for (const Shape& shape : kShapes) RegisterShape(table, prefix + shape.name, shape);
  for (const Shape& shape : kTypeShapes) {
    for (const TypePair& types : kTypePairs) {
      const std::string name = prefix + "types_" + shape.name + "_4096_" + types.name;
      RegisterShape(table, name, DecodeFromMemory(shape, types))->ThreadRange(1, 2)->UseRealTime();
    }
  }
}

}  // namespace adit::bench
