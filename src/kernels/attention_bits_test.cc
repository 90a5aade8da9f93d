#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/attention_oracle.h"
#include "kernels/test_data.h"
#include "kernels/test_tables.h"

// The bits of a query's attention depend on the query and on the positions that it sees, and on nothing else.
namespace adit::kernels {
namespace {

const std::vector<AttentionShape>& Shapes() {
  static const std::vector<AttentionShape> shapes = {
      {.k_type = KvType::kF16, .v_type = KvType::kF16, .heads_per_kv = 3, .k_dim = 64, .v_dim = 64},
      {.k_type = KvType::kF32,
       .v_type = KvType::kF32,
       .block_size = 48,
       .num_kv_heads = 2,
       .heads_per_kv = 1,
       .k_dim = 24,
       .v_dim = 20},
      {.k_type = KvType::kBF16,
       .v_type = KvType::kBF16,
       .block_size = 32,
       .heads_per_kv = 8,
       .k_dim = 16,
       .v_dim = 40,
       .window = 37},
      {.k_type = KvType::kF16, .v_type = KvType::kF16, .heads_per_kv = 5, .k_dim = 16, .v_dim = 80, .window = 300},
      {.k_type = KvType::kF16, .v_type = KvType::kF16, .heads_per_kv = 2, .k_dim = 32, .v_dim = 32, .softcap = 3.0f},
      {.k_type = KvType::kQ8_0, .v_type = KvType::kQ8_0, .heads_per_kv = 3, .k_dim = 64, .v_dim = 64},
      {.k_type = KvType::kQ4_0, .v_type = KvType::kQ4_0, .block_size = 32, .heads_per_kv = 4, .k_dim = 40, .v_dim = 72},
      {.k_type = KvType::kQ8_0, .v_type = KvType::kQ4_0, .heads_per_kv = 1, .k_dim = 33, .v_dim = 33, .window = 37},
      {.k_type = KvType::kQ4_0, .v_type = KvType::kQ8_0, .heads_per_kv = 5, .k_dim = 16, .v_dim = 80, .window = 300},
      {.k_type = KvType::kFp8, .v_type = KvType::kFp8, .heads_per_kv = 3, .k_dim = 64, .v_dim = 72},
  };
  return shapes;
}

std::span<const float> RowsOf(std::span<const float> out, const AttentionShape& shape, int64_t first, int64_t count) {
  const auto row = static_cast<size_t>(shape.num_kv_heads * shape.heads_per_kv * shape.v_dim);
  return out.subspan(static_cast<size_t>(first) * row, static_cast<size_t>(count) * row);
}

TEST(AttendBits, AreThoseOfTheQueryAlone) {
  for (const KernelTable* table : TestTables()) {
    for (const AttentionShape& shape : Shapes()) {
      for (const int64_t begin : {0, 245, 500}) {
        const PagedSequence sequence(*table, shape, begin + 21, 1);
        const std::vector<float> together = Attention(*table, sequence, begin, begin + 21);
        for (int64_t i = 0; i < 21; ++i) {
          // Later tokens are not there yet: their slots hold NaN.
          const PagedSequence prefix(*table, shape, begin + i + 1, 1);
          const std::vector<float> alone = Attention(*table, prefix, begin + i, begin + i + 1);
          ASSERT_TRUE(SameBits(alone, RowsOf(together, shape, i, 1))) << table->name << ", query " << begin + i;
        }
      }
    }
  }
}

TEST(AttendBits, SurviveAnySplitOfTheQueries) {
  RandomFloats random(2);
  for (const KernelTable* table : TestTables()) {
    for (const AttentionShape& shape : Shapes()) {
      const PagedSequence sequence(*table, shape, 300, 2);
      const std::vector<float> together = Attention(*table, sequence, 230, 300);
      for (int trial = 0; trial < 4; ++trial) {
        for (int64_t begin = 230; begin < 300;) {
          const int64_t end = std::min<int64_t>(300, begin + random.NextInt(1, 20));
          ASSERT_TRUE(
              SameBits(Attention(*table, sequence, begin, end), RowsOf(together, shape, begin - 230, end - begin)))
              << table->name << ", queries " << begin << ".." << end;
          begin = end;
        }
      }
    }
  }
}

TEST(AttendBits, SurviveAnySplitOfTheChunks) {
  constexpr int64_t kBegin = 1010;
  constexpr int64_t kQueries = 16;
  constexpr int64_t kChunks = 5;
  for (const KernelTable* table : TestTables()) {
    for (const AttentionShape& shape : Shapes()) {
      const int64_t state_floats = AttnStateFloats(shape.v_dim);
      const int64_t num_states = kQueries * shape.heads_per_kv;
      const PagedSequence sequence(*table, shape, kBegin + kQueries, 3);
      const AttendArgs args = sequence.Args(kBegin);
      std::vector<float> at_once = EmptyStates(shape, num_states);
      RunAttend(*table, args, {.query_end = kQueries, .chunk_end = kChunks, .states = at_once.data()});

      // By calls that go on from one another.
      std::vector<float> in_turn = EmptyStates(shape, num_states);
      for (const auto& [begin, end] : {std::pair{0, 2}, {2, 3}, {3, 5}}) {
        RunAttend(*table, args,
                  {.query_end = kQueries, .chunk_begin = begin, .chunk_end = end, .states = in_turn.data()});
      }
      EXPECT_TRUE(SameBits(in_turn, at_once)) << table->name;

      // By a state for each chunk, computed last to first and merged first to last.
      std::vector<std::vector<float>> parts(kChunks);
      for (int64_t chunk = kChunks - 1; chunk >= 0; --chunk) {
        std::vector<float>& part = parts[static_cast<size_t>(chunk)];
        part = EmptyStates(shape, num_states);
        RunAttend(*table, args,
                  {.query_end = kQueries, .chunk_begin = chunk, .chunk_end = chunk + 1, .states = part.data()});
      }
      std::vector<float> merged = EmptyStates(shape, num_states);
      for (const std::vector<float>& part : parts) {
        for (int64_t i = 0; i < num_states; ++i) {
          table->merge_states(part.data() + i * state_floats, merged.data() + i * state_floats, shape.v_dim);
        }
      }
      EXPECT_TRUE(SameBits(merged, at_once)) << table->name;
    }
  }
}

TEST(AttendBits, DoNotDependOnTheBlockSize) {
  for (const KernelTable* table : TestTables()) {
    for (AttentionShape shape : Shapes()) {
      std::vector<float> first;
      for (const int block_size : {16, 32, 80, 256, 1024}) {
        shape.block_size = block_size;
        const PagedSequence sequence(*table, shape, 400, 4);
        const std::vector<float> out = Attention(*table, sequence, 390, 400);
        if (first.empty()) first = out;
        EXPECT_TRUE(SameBits(out, first)) << table->name << ", block size " << block_size;
      }
    }
  }
}

TEST(AttendBits, DoNotDependOnTheNumberOfHeadsThatShareAKvHead) {
  constexpr int kMost = 13;
  for (const KernelTable* table : TestTables()) {
    for (const KvType type : kKvTypes) {
      AttentionShape shape = {.k_type = type, .v_type = type, .heads_per_kv = kMost, .k_dim = 40, .v_dim = 56};
      const PagedSequence sequence(*table, shape, 333, 5);
      const std::vector<float> all = Attention(*table, sequence, 332, 333);
      for (int heads = 1; heads < kMost; ++heads) {
        AttendArgs args = sequence.Args(332);
        args.heads_per_kv = heads;
        std::vector<float> states = EmptyStates(shape, heads);
        RunAttend(*table, args, {.query_end = 1, .chunk_end = 2, .states = states.data()});
        for (int h = 0; h < heads; ++h) {
          std::vector<float> out(static_cast<size_t>(shape.v_dim));
          table->finish_state(states.data() + h * AttnStateFloats(shape.v_dim), out.data(), shape.v_dim);
          EXPECT_TRUE(SameBits(out, std::span(all).subspan(static_cast<size_t>(h * shape.v_dim), out.size())))
              << table->name << ", " << shape << ", head " << h << " of " << heads;
        }
      }
    }
  }
}

}  // namespace
}  // namespace adit::kernels
