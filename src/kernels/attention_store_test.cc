#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "kernels/attention_oracle.h"
#include "kernels/test_data.h"
#include "kernels/test_tables.h"
#include "tensor/half.h"

// What store_kv writes, and that it writes nothing else.
namespace adit::kernels {
namespace {

constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
constexpr KvType kCodeTypes[] = {KvType::kQ8_0, KvType::kQ4_0};
constexpr int kSlot = 9;
constexpr float kLargestHalf = 65504.0f;

AttentionShape Shape(KvType k_type, KvType v_type, int dim, int block_size = 16) {
  return {.k_type = k_type, .v_type = v_type, .block_size = block_size, .k_dim = dim, .v_dim = dim};
}

// A block's worth of tokens, one of which is stored again.
class Stored {
 public:
  Stored(const KernelTable& table, const AttentionShape& shape, std::span<const float> k, std::span<const float> v)
      : sequence_(table, shape, shape.block_size, 6), before_(Bytes()) {
    table.store_kv(
        {.kv = sequence_.kv(), .block_id = sequence_.block_table()[0], .slot = kSlot, .k = k.data(), .v = v.data()});
  }
  float Key(int d) const { return sequence_.Key(0, kSlot, d); }
  float Value(int d) const { return sequence_.Value(0, kSlot, d); }
  float KeyScale(int d) const { return sequence_.KeyScale(0, kSlot, d); }
  float ValueScale(int d) const { return sequence_.ValueScale(0, kSlot, d); }
  const std::vector<std::byte>& before() const { return before_; }
  // Of the whole pool: a block's table of one block and three others.
  std::vector<std::byte> Bytes() const {
    const KvView& kv = sequence_.kv();
    return {kv.base, kv.base + kv.block_bytes * 4};
  }
  size_t block_begin() const { return static_cast<size_t>(sequence_.block_table()[0]) * sequence_.kv().block_bytes; }

 private:
  PagedSequence sequence_;
  std::vector<std::byte> before_;
};

// The bytes of a block with one KV head that belong to one slot, as attention.h lays it out.
std::set<size_t> BytesOfSlot(const AttentionShape& shape, int slot) {
  const KvHeadLayout layout = KvHeadLayoutOf(shape.k_type, shape.v_type, shape.block_size, shape.k_dim, shape.v_dim);
  const auto tokens = static_cast<size_t>(shape.block_size);
  const auto token = static_cast<size_t>(slot);
  std::set<size_t> bytes;
  const auto add = [&](size_t begin, size_t count) {
    for (size_t i = 0; i < count; ++i) bytes.insert(begin + i);
  };
  const size_t key_bytes = shape.k_type == KvType::kF32                              ? 4
                           : HasScales(shape.k_type) || shape.k_type == KvType::kFp8 ? 1
                                                                                     : 2;
  for (size_t row = 0; row < KvTokenBytes(shape.k_type, shape.k_dim) / key_bytes; ++row) {
    add(layout.keys + (row * tokens + token) * key_bytes, key_bytes);
  }
  const size_t row_bytes = KvTokenBytes(shape.v_type, shape.v_dim);
  add(layout.values + token * row_bytes, row_bytes);
  for (size_t group = 0; group < static_cast<size_t>(KvGroups(shape.k_dim)) && HasScales(shape.k_type); ++group) {
    add(layout.key_scales + (group * tokens + token) * 2, 2);
  }
  for (size_t group = 0; group < static_cast<size_t>(KvGroups(shape.v_dim)) && HasScales(shape.v_type); ++group) {
    add(layout.value_scales + (group * tokens + token) * 2, 2);
  }
  return bytes;
}

TEST(StoreKv, TouchesItsSlotAlone) {
  RandomFloats random(11);
  for (const KernelTable* table : TestTables()) {
    for (const KvType k_type : kKvTypes) {
      for (const KvType v_type : kKvTypes) {
        for (const int dim : {1, 3, 33, 72, 80, 128}) {
          for (const int block_size : {16, 80}) {
            const AttentionShape shape = Shape(k_type, v_type, dim, block_size);
            const std::vector<float> x = random.Vector(dim, 5.0f);
            const Stored stored(*table, shape, x, x);
            const std::vector<std::byte> after = stored.Bytes();
            const std::set<size_t> own = BytesOfSlot(shape, kSlot);
            for (size_t i = 0; i < after.size(); ++i) {
              if (i >= stored.block_begin() && own.contains(i - stored.block_begin())) continue;
              ASSERT_EQ(after[i], stored.before()[i]) << table->name << ", " << shape << ", byte " << i;
            }
          }
        }
      }
    }
  }
}

TEST(StoreKv, GivesNoByteToTwoSlots) {
  for (const KvType k_type : kKvTypes) {
    for (const KvType v_type : kKvTypes) {
      for (const int dim : {1, 3, 33, 72, 128}) {
        const AttentionShape shape = Shape(k_type, v_type, dim);
        std::set<size_t> all;
        size_t count = 0;
        for (int slot = 0; slot < shape.block_size; ++slot) {
          const std::set<size_t> own = BytesOfSlot(shape, slot);
          count += own.size();
          all.insert(own.begin(), own.end());
        }
        EXPECT_EQ(all.size(), count) << shape;
        EXPECT_LT(*all.rbegin(), KvBlockBytes(k_type, v_type, shape.block_size, 1, dim, dim)) << shape;
      }
    }
  }
}

TEST(StoreKv, RoundsToNearestEven) {
  const std::vector<float> values = {0.0f,           -0.0f,          1.0f,           1.0f + 0x1p-11f, 1.0f + 0x3p-11f,
                                     65504.0f,       65519.0f,       65520.0f,       -1e6f,           0x1p-24f,
                                     0x1p-25f,       0x3p-25f,       1e-9f,          0x1.fep127f,     0x1.ffp127f,
                                     1.0f + 0x1p-8f, 1.0f + 0x3p-8f, kFloatInfinity, -kFloatInfinity};
  const int dim = static_cast<int>(values.size());
  for (const KernelTable* table : TestTables()) {
    for (const KvType type : {KvType::kF32, KvType::kF16, KvType::kBF16}) {
      SCOPED_TRACE(testing::Message() << table->name << ", type " << static_cast<int>(type));
      const Stored stored(*table, Shape(type, type, dim, 32), values, values);
      for (int d = 0; d < dim; ++d) {
        const float x = values[static_cast<size_t>(d)];
        const float want = type == KvType::kF32   ? x
                           : type == KvType::kF16 ? HalfToFloat(FloatToHalf(x))
                                                  : Bf16ToFloat(FloatToBf16(x));
        EXPECT_EQ(stored.Key(d), want) << "element " << d;
        EXPECT_EQ(stored.Value(d), want) << "element " << d;
      }
    }
  }
}

// Every number of the type, by the definition: what lies between two of them goes to the nearer, and halfway to the one
// whose last bit is 0.
TEST(StoreKv, RoundsE4M3ToNearestEven) {
  std::vector<float> numbers;
  for (int bits = 0; bits < 127; ++bits) {
    const int exponent = bits / 8;
    numbers.push_back(exponent == 0 ? std::ldexp(static_cast<float>(bits % 8), -9)
                                    : std::ldexp(1.0f + static_cast<float>(bits % 8) / 8.0f, exponent - 7));
  }
  EXPECT_EQ(numbers.back(), 448.0f);
  std::vector<float> values = {449.0f, 1e6f, kFloatInfinity, 1e-40f};
  std::vector<float> wanted = {448.0f, 448.0f, 448.0f, 0.0f};
  const auto add = [&](float value, float want) {
    values.insert(values.end(), {value, -value});
    wanted.insert(wanted.end(), {want, -want});
  };
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    const float half = (numbers[i] + numbers[i + 1]) / 2.0f;
    add(numbers[i], numbers[i]);
    add(half, numbers[i + i % 2]);
    add(std::nextafter(half, 0.0f), numbers[i]);
    add(std::nextafter(half, 1e9f), numbers[i + 1]);
  }
  const int dim = static_cast<int>(values.size());
  for (const KernelTable* table : TestTables()) {
    const Stored stored(*table, Shape(KvType::kFp8, KvType::kFp8, dim), values, values);
    for (int d = 0; d < dim; ++d) {
      ASSERT_EQ(stored.Key(d), wanted[static_cast<size_t>(d)]) << table->name << ", " << values[static_cast<size_t>(d)];
      ASSERT_EQ(stored.Value(d), wanted[static_cast<size_t>(d)])
          << table->name << ", " << values[static_cast<size_t>(d)];
    }
  }
}

TEST(StoreKv, KeepsNaN) {
  const std::vector<float> values(9, std::numeric_limits<float>::quiet_NaN());
  for (const KernelTable* table : TestTables()) {
    for (const KvType type : kKvTypes) {
      const Stored stored(*table, Shape(type, type, 9), values, values);
      for (int d = 0; d < 9; ++d) {
        EXPECT_TRUE(std::isnan(stored.Key(d)) && std::isnan(stored.Value(d))) << table->name;
      }
    }
  }
}

// The definition of attention.h for the group that holds element d of x: its scale, and the element.
struct Quantized {
  float scale;
  float element;
};
Quantized Quantize(KvType type, std::span<const float> x, size_t d) {
  const size_t begin = d / kKvGroup * kKvGroup;
  const std::span<const float> group = x.subspan(begin, std::min<size_t>(kKvGroup, x.size() - begin));
  const double steps = type == KvType::kQ8_0 ? 127 : 8;
  const double highest = type == KvType::kQ8_0 ? 127 : 7;
  double largest = 0.0;
  for (const float value : group) largest = std::max(largest, std::abs(double{value}));
  uint16_t half = 0;
  while (half < 0x7bff && steps * double{HalfToFloat(half)} < largest) ++half;
  float scale = HalfToFloat(half);
  const bool has_positive =
      std::ranges::any_of(group, [&](float value) { return double{value} == largest && value > 0.0f; });
  if (type == KvType::kQ4_0 && has_positive) scale = -scale;
  if (scale == 0.0f) return {0.0f, 0.0f};
  const double code = std::nearbyint(std::clamp(double{x[d]} / double{scale}, -steps, highest));
  return {scale, static_cast<float>(code) * scale};
}

std::vector<std::vector<float>> QuantizableRows() {
  RandomFloats random(12);
  std::vector<std::vector<float>> rows;
  for (const int dim : {1, 3, 32, 33, 64, 72, 80, 128}) {
    for (const float limit : {1.0f, 1e-3f, 3e-7f, 1e-20f, 1e-40f, 300.0f, 4e5f}) {
      rows.push_back(random.Vector(dim, limit));
    }
    rows.emplace_back(dim, 0.0f);
    rows.emplace_back(dim, -0.25f);
    rows.emplace_back(dim, std::numeric_limits<float>::denorm_min());
    // Both ends of the codes, and halves between them.
    std::vector<float> ends = random.Vector(dim, 1.0f);
    for (size_t i = 0; i < ends.size(); ++i) ends[i] = i % 3 == 0 ? 127.0f : i % 3 == 1 ? -127.0f : 0.5f + 1.0f * i;
    rows.push_back(ends);
    for (float& x : ends) x = -x;
    rows.push_back(ends);
  }
  return rows;
}

TEST(StoreKv, QuantizesAsDefinedAndWithinItsBound) {
  for (const KernelTable* table : TestTables()) {
    for (const KvType type : kCodeTypes) {
      for (const std::vector<float>& x : QuantizableRows()) {
        const Stored stored(*table, Shape(type, type, static_cast<int>(x.size())), x, x);
        for (size_t d = 0; d < x.size(); ++d) {
          const int element = static_cast<int>(d);
          const Quantized want = Quantize(type, x, d);
          SCOPED_TRACE(testing::Message() << table->name << ", type " << static_cast<int>(type) << ", element " << d
                                          << " of " << x.size() << ", " << x[d]);
          ASSERT_EQ(stored.KeyScale(element), want.scale);
          ASSERT_EQ(stored.ValueScale(element), want.scale);
          ASSERT_EQ(stored.Key(element), want.element);
          ASSERT_EQ(stored.Value(element), want.element);
          const double bound = std::abs(double{want.scale}) * (type == KvType::kQ8_0 ? 0.5 : 1.0);
          // The quotient is rounded to float before it is rounded to a code.
          ASSERT_LE(std::abs(double{x[d]} - double{stored.Key(element)}), bound * (1 + 0x1p-20));
        }
      }
    }
  }
}

TEST(StoreKv, CutsWhatIsTooLargeForTheLargestScale) {
  const std::vector<float> x = {kFloatInfinity, -kFloatInfinity, 3e38f, -1e30f, 1.0f, 65504.0f, -65504.0f};
  for (const KernelTable* table : TestTables()) {
    const Stored q8(*table, Shape(KvType::kQ8_0, KvType::kQ8_0, 7), x, x);
    const std::vector<float> want8 = {127, -127, 127, -127, 0, 1, -1};
    const Stored q4(*table, Shape(KvType::kQ4_0, KvType::kQ4_0, 7), x, x);
    const std::vector<float> want4 = {8, -7, 8, -7, 0, 1, -1};
    for (int d = 0; d < 7; ++d) {
      EXPECT_EQ(q8.Key(d), want8[static_cast<size_t>(d)] * kLargestHalf) << table->name << ", element " << d;
      EXPECT_EQ(q8.Value(d), want8[static_cast<size_t>(d)] * kLargestHalf) << table->name << ", element " << d;
      EXPECT_EQ(q4.Key(d), want4[static_cast<size_t>(d)] * kLargestHalf) << table->name << ", element " << d;
      EXPECT_EQ(q4.Value(d), want4[static_cast<size_t>(d)] * kLargestHalf) << table->name << ", element " << d;
    }
  }
}

TEST(StoreKv, KeepsNaNWithinItsGroup) {
  RandomFloats random(13);
  for (const KernelTable* table : TestTables()) {
    for (const KvType type : kCodeTypes) {
      const std::vector<float> clean = random.Vector(80);
      std::vector<float> x = clean;
      x[40] = -std::numeric_limits<float>::quiet_NaN();
      const Stored stored(*table, Shape(type, type, 80), x, x);
      for (int d = 0; d < 80; ++d) {
        if (d / kKvGroup == 1) {
          EXPECT_TRUE(std::isnan(stored.Key(d)) && std::isnan(stored.Value(d))) << table->name << ", element " << d;
        } else {
          const float want = Quantize(type, clean, static_cast<size_t>(d)).element;
          EXPECT_EQ(stored.Key(d), want) << table->name << ", element " << d;
          EXPECT_EQ(stored.Value(d), want) << table->name << ", element " << d;
        }
      }
    }
  }
}

TEST(StoreKv, WritesTheSameBytesInEverySet) {
  RandomFloats random(14);
  for (const KvType type : kKvTypes) {
    for (const int dim : {3, 33, 64, 80}) {
      const AttentionShape shape = Shape(type, type, dim);
      const std::vector<float> x = random.Vector(dim, 100.0f);
      const Stored first(*TestTables().front(), shape, x, x);
      for (const KernelTable* table : TestTables()) {
        EXPECT_EQ(Stored(*table, shape, x, x).Bytes(), first.Bytes()) << table->name << ", " << shape;
      }
    }
  }
}

}  // namespace
}  // namespace adit::kernels
