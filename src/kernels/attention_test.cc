#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention_oracle.h"
#include "kernels/test_data.h"
#include "kernels/test_tables.h"

namespace adit::kernels {
namespace {

void ExpectAgreement(const KernelTable& table, const AttentionShape& shape, int64_t begin, int64_t end) {
  SCOPED_TRACE(testing::Message() << table.name << ", " << shape << ", queries " << begin << ".." << end);
  const PagedSequence sequence(table, shape, end, static_cast<uint32_t>(begin + end));
  const Expected expected = ExpectedAttention(sequence, begin, end);
  EXPECT_TRUE(AllWithin(Attention(table, sequence, begin, end), expected.values, expected.tolerance));
}

TEST(Attend, AgreesWithDoublePrecisionForEveryPairOfTypes) {
  const AttentionShape shapes[] = {
      {.block_size = 32, .num_kv_heads = 2, .heads_per_kv = 3, .k_dim = 80, .v_dim = 72},
      {.block_size = 80, .heads_per_kv = 4, .k_dim = 33, .v_dim = 64, .window = 50},
  };
  for (const KernelTable* table : TestTables()) {
    for (AttentionShape shape : shapes) {
      for (const KvType k_type : kKvTypes) {
        for (const KvType v_type : kKvTypes) {
          shape.k_type = k_type;
          shape.v_type = v_type;
          ExpectAgreement(*table, shape, 250, 262);
        }
      }
    }
  }
}

TEST(Attend, AgreesWithDoublePrecisionForEveryTypeAndShape) {
  const AttentionShape shapes[] = {
      {.num_kv_heads = 2, .heads_per_kv = 3, .k_dim = 64, .v_dim = 64},
      {.block_size = 32, .heads_per_kv = 1, .k_dim = 16, .v_dim = 16},
      {.block_size = 48, .heads_per_kv = 2, .k_dim = 80, .v_dim = 80},
      {.heads_per_kv = 4, .k_dim = 72, .v_dim = 72},
      {.block_size = 64, .heads_per_kv = 4, .k_dim = 96, .v_dim = 128},
      {.block_size = 256, .heads_per_kv = 7, .k_dim = 128, .v_dim = 96},
      {.num_kv_heads = 3, .heads_per_kv = 5, .k_dim = 3, .v_dim = 5},
      {.block_size = 80, .heads_per_kv = 6, .k_dim = 1, .v_dim = 1},
      {.heads_per_kv = 9, .k_dim = 33, .v_dim = 47},
      {.heads_per_kv = 3, .k_dim = 16, .v_dim = 14},  // states without padding behind them
      {.heads_per_kv = 7, .k_dim = 16, .v_dim = 30},
      {.block_size = 512, .heads_per_kv = 2, .k_dim = 256, .v_dim = 256},
  };
  for (const KernelTable* table : TestTables()) {
    for (AttentionShape shape : shapes) {
      for (const KvType type : kKvTypes) {
        shape.k_type = type;
        shape.v_type = type;
        ExpectAgreement(*table, shape, 0, 19);
        ExpectAgreement(*table, shape, 250, 262);
        ExpectAgreement(*table, shape, 611, 612);
      }
    }
  }
}

TEST(Attend, SeesTheWindowAlone) {
  for (const KernelTable* table : TestTables()) {
    for (const int64_t window : {1, 2, 15, 16, 17, 100, 255, 256, 257, 300, 600}) {
      ExpectAgreement(*table, {.heads_per_kv = 2, .k_dim = 24, .v_dim = 24, .window = window}, 0, 33);
      ExpectAgreement(*table,
                      {.k_type = KvType::kQ8_0,
                       .v_type = KvType::kQ4_0,
                       .heads_per_kv = 3,
                       .k_dim = 24,
                       .v_dim = 40,
                       .window = window},
                      250, 280);
      ExpectAgreement(*table, {.block_size = 32, .heads_per_kv = 3, .k_dim = 16, .v_dim = 20, .window = window}, 500,
                      530);
    }
  }
}

TEST(Attend, CapsScores) {
  for (const KernelTable* table : TestTables()) {
    for (const float softcap : {0.5f, 2.0f, 50.0f}) {
      ExpectAgreement(*table, {.heads_per_kv = 2, .k_dim = 24, .v_dim = 24, .softcap = softcap}, 0, 19);
      ExpectAgreement(*table,
                      {.k_type = KvType::kF32,
                       .v_type = KvType::kF32,
                       .heads_per_kv = 3,
                       .k_dim = 40,
                       .v_dim = 16,
                       .window = 37,
                       .softcap = softcap},
                      250, 270);
    }
  }
}

TEST(Attend, SeesLaterPositionsWhereAllDo) {
  for (const KernelTable* table : TestTables()) {
    for (const KvType type : kKvTypes) {
      const AttentionShape shape = {.k_type = type,
                                    .v_type = type,
                                    .num_kv_heads = 2,
                                    .heads_per_kv = 2,
                                    .k_dim = 24,
                                    .v_dim = 40,
                                    .sees_all = true};
      ExpectAgreement(*table, shape, 0, 1);
      ExpectAgreement(*table, shape, 0, 37);
      ExpectAgreement(*table, shape, 0, 600);
    }
  }
}

TEST(Attend, ReadsNothingBeforeTheWindow) {
  // Positions before the window of the first query were never stored: they are NaN, and in blocks that the table does
  // not even name.
  constexpr int64_t kWindow = 70;
  constexpr int64_t kBegin = 540;
  for (const KernelTable* table : TestTables()) {
    for (const KvType type : kKvTypes) {
      const AttentionShape shape = {
          .k_type = type, .v_type = type, .heads_per_kv = 3, .k_dim = 40, .v_dim = 40, .window = kWindow};
      const PagedSequence all(*table, shape, kBegin + 9, 3);
      const PagedSequence late(*table, shape, kBegin + 9, 3, kBegin - kWindow + 1);
      std::vector<int32_t> block_table(late.block_table().begin(), late.block_table().end());
      for (int64_t block = 0; block < (kBegin - kWindow + 1) / shape.block_size; ++block) {
        block_table[static_cast<size_t>(block)] = std::numeric_limits<int32_t>::max();
      }
      AttendArgs args = late.Args(kBegin);
      args.block_table = block_table.data();
      std::vector<float> states = EmptyStates(shape, 9 * 3);
      RunAttend(*table, args, {.query_end = 9, .chunk_end = 3, .states = states.data()});
      std::vector<float> want = EmptyStates(shape, 9 * 3);
      RunAttend(*table, all.Args(kBegin), {.query_end = 9, .chunk_end = 3, .states = want.data()});
      EXPECT_TRUE(SameBits(states, want)) << table->name << ", " << shape;
    }
  }
}

TEST(Attend, LeavesStatesOfQueriesThatSeeNothingOfTheChunks) {
  const AttentionShape shape = {.heads_per_kv = 2, .k_dim = 16, .v_dim = 16, .window = 4};
  for (const KernelTable* table : TestTables()) {
    const PagedSequence sequence(*table, shape, 600, 4);
    // Queries 250..265: the first six see nothing of chunk 1; those from 259 on nothing of chunk 0.
    for (const int64_t chunk : {0, 1, 2}) {
      std::vector<float> states = EmptyStates(shape, 16 * 2);
      const std::vector<float> empty = EmptyStates(shape, 1);
      RunAttend(*table, sequence.Args(250),
                {.query_end = 16, .chunk_begin = chunk, .chunk_end = chunk + 1, .states = states.data()});
      for (int64_t row = 0; row < 16 * 2; ++row) {
        const int64_t position = 250 + row / 2;
        const bool sees = chunk == 0 ? position - 3 < 256 : chunk == 1 && position >= 256;
        const auto state = std::span(states).subspan(static_cast<size_t>(row) * empty.size(), empty.size());
        EXPECT_NE(static_cast<bool>(SameBits(state, empty)), sees)
            << table->name << ", chunk " << chunk << ", row " << row;
      }
    }
  }
}

TEST(Attend, TakesLargeAndEqualScores) {
  const AttentionShape shape = {
      .k_type = KvType::kF32, .v_type = KvType::kF32, .heads_per_kv = 1, .k_dim = 1, .v_dim = 1};
  for (const KernelTable* table : TestTables()) {
    PagedSequence sequence(*table, shape, 300, 5);
    AttendArgs args = sequence.Args(299);
    // Equal scores: the mean of the values.
    const float zero = 0.0f;
    args.q = &zero;
    std::vector<float> states = EmptyStates(shape, 1);
    RunAttend(*table, args, {.query_end = 1, .chunk_end = 2, .states = states.data()});
    EXPECT_EQ(states[0], 0.0f) << table->name;
    EXPECT_EQ(states[1], 300.0f) << table->name;
    // Far apart: the value of the largest key.
    const float huge = 1e30f;
    args.q = &huge;
    states = EmptyStates(shape, 1);
    RunAttend(*table, args, {.query_end = 1, .chunk_end = 2, .states = states.data()});
    int64_t best = 0;
    for (int64_t t = 1; t < 300; ++t) {
      if (sequence.Key(0, t, 0) > sequence.Key(0, best, 0)) best = t;
    }
    EXPECT_EQ(states[1], 1.0f) << table->name;
    EXPECT_EQ(states[2], sequence.Value(0, best, 0)) << table->name;
  }
}

TEST(MergeStates, FollowsItsFormulaAndKeepsTheOtherOfAnEmptyOne) {
  for (const KernelTable* table : TestTables()) {
    for (const int v_dim : {1, 2, 5, 7, 8, 14, 16, 30, 64, 80, 129}) {
      SCOPED_TRACE(testing::Message() << table->name << ", v_dim " << v_dim);
      const AttentionShape shape = {.v_dim = v_dim};
      RandomFloats random(static_cast<uint32_t>(v_dim));
      const auto n = static_cast<size_t>(v_dim + 2);
      const std::vector<float> empty = EmptyStates(shape, 1);
      std::vector<float> a = empty;
      std::vector<float> b = empty;
      for (size_t i = 0; i < n; ++i) a[i] = random.Next(3.0f);
      a[2] = -0.0f;
      for (size_t i = 0; i < n; ++i) b[i] = random.Next(3.0f);

      std::vector<float> into = empty;
      table->merge_states(a.data(), into.data(), v_dim);
      EXPECT_TRUE(SameBits(std::span(into).first(n), std::span(a).first(n)));
      table->merge_states(empty.data(), into.data(), v_dim);
      EXPECT_TRUE(SameBits(std::span(into).first(n), std::span(a).first(n)));

      table->merge_states(b.data(), into.data(), v_dim);
      const double max = std::max(a[0], b[0]);
      std::vector<double> want = {max};
      std::vector<double> tolerance = {0.0};
      for (size_t i = 1; i < n; ++i) {
        const double kept = a[i] * std::exp(a[0] - max);
        const double added = b[i] * std::exp(b[0] - max);
        want.push_back(kept + added);
        tolerance.push_back((6 + 4) * kEpsilon * (std::abs(kept) + std::abs(added)));
      }
      EXPECT_TRUE(AllWithin(std::span(into).first(n), want, tolerance));
      for (size_t i = n; i < into.size(); ++i) EXPECT_TRUE(std::isnan(into[i])) << "padding " << i;
    }
  }
}

TEST(MergeStates, LeavesTwoEmptyStatesEmpty) {
  for (const KernelTable* table : TestTables()) {
    const std::vector<float> empty = EmptyStates({.v_dim = 20}, 1);
    std::vector<float> into = empty;
    table->merge_states(empty.data(), into.data(), 20);
    EXPECT_TRUE(SameBits(into, empty)) << table->name;
  }
}

TEST(MergeStates, WeighsByExponentialsRightToTheLastPlaces) {
  std::vector<float> exponents = {0.0f, -87.3f, -87.4f, -103.0f, -103.9f, -104.5f, -1e10f};
  for (float x = 1e-6f; x < 104.0f; x *= 1.0003f) exponents.push_back(-x);
  for (const KernelTable* table : TestTables()) {
    std::vector<float> sums;
    std::vector<double> want;
    std::vector<double> tolerance;
    for (const float x : exponents) {
      const std::vector<float> from = {0.0f, 0.0f, 0.0f};
      std::vector<float> into = {x, 1.0f, 1.0f};  // the largest score, the sum and one value
      table->merge_states(from.data(), into.data(), 1);
      sums.push_back(into[1]);
      want.push_back(std::exp(double{x}));
      tolerance.push_back(2.2 * kEpsilon * want.back() + 0x1p-150);  // 1.1 ulp, and half the least subnormal number
    }
    EXPECT_TRUE(AllWithin(sums, want, tolerance)) << table->name;
  }
}

TEST(FinishState, DividesTheValuesByTheSum) {
  for (const KernelTable* table : TestTables()) {
    for (const int v_dim : {1, 7, 16, 33}) {
      std::vector<float> state = RandomFloats(8).Vector(AttnStateFloats(v_dim));
      state[1] = 3.0f;
      MisalignedFloats out(std::vector<float>(static_cast<size_t>(v_dim)));
      table->finish_state(state.data(), out.data(), v_dim);
      for (size_t d = 0; d < static_cast<size_t>(v_dim); ++d) EXPECT_EQ(out[d], state[2 + d] / 3.0f) << table->name;
      EXPECT_TRUE(out.MarginsIntact());
    }
  }
}

}  // namespace
}  // namespace adit::kernels
