#include "tensor/block_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "tensor/block_codes_internal.h"

namespace adit {
namespace encode {
namespace {

uint8_t CodeBits(int value) { return static_cast<uint8_t>(value); }

// The low four bits of elements j and j + 16, as types with blocks of 32 have them.
void PutHalves(const uint8_t* codes, uint8_t* out) {
  for (int j = 0; j < 16; ++j) out[j] = CodeBits((codes[j] & 15) | (codes[j + 16] & 15) << 4);
}

void PutFifthBits(const uint8_t* codes, uint8_t* out) {
  std::fill_n(out, 4, uint8_t{0});
  for (int i = 0; i < 32; ++i) out[i / 8] = CodeBits(out[i / 8] | (codes[i] >> 4) << (i % 8));
}

// Two bits of each of four elements 32 apart in a byte, as Q2_K, Q3_K and Q6_K have them.
void PutPairsOfBits(const uint8_t* codes, int shift, uint8_t* out) {
  for (int j = 0; j < 64; ++j) {
    const uint8_t* first = codes + 128 * (j / 32) + j % 32;
    int byte = 0;
    for (int k = 0; k < 4; ++k) byte |= (first[32 * k] >> shift & 3) << (2 * k);
    out[j] = CodeBits(byte);
  }
}

// Bit `shift` of eight elements 32 apart in a byte.
void PutBits(const uint8_t* codes, int shift, uint8_t* out) {
  std::fill_n(out, 32, uint8_t{0});
  for (int i = 0; i < 256; ++i) out[i % 32] = CodeBits(out[i % 32] | (codes[i] >> shift & 1) << (i / 32));
}

// The low four bits of elements e and e + distance in a byte, for each 2 * distance elements.
void PutNibbles(const uint8_t* codes, int distance, uint8_t* out) {
  for (int j = 0; j < 128; ++j) {
    const uint8_t* first = codes + 2 * distance * (j / distance) + j % distance;
    out[j] = CodeBits((first[0] & 15) | (first[distance] & 15) << 4);
  }
}

}  // namespace

void PutCodes(const uint8_t* codes, BlockQ4_0& block) { PutHalves(codes, block.qs); }
void PutCodes(const uint8_t* codes, BlockQ4_1& block) { PutHalves(codes, block.qs); }
void PutCodes(const uint8_t* codes, BlockIQ4NL& block) { PutHalves(codes, block.qs); }

void PutCodes(const uint8_t* codes, BlockQ5_0& block) {
  PutHalves(codes, block.qs);
  PutFifthBits(codes, block.qh);
}

void PutCodes(const uint8_t* codes, BlockQ5_1& block) {
  PutHalves(codes, block.qs);
  PutFifthBits(codes, block.qh);
}

void PutCodes(const uint8_t* codes, BlockQ8_0& block) {
  for (int i = 0; i < 32; ++i) block.qs[i] = static_cast<int8_t>(codes[i] - 127);
}

void PutCodes(const uint8_t* codes, BlockQ2K& block) { PutPairsOfBits(codes, 0, block.qs); }

void PutCodes(const uint8_t* codes, BlockQ3K& block) {
  PutPairsOfBits(codes, 0, block.qs);
  PutBits(codes, 2, block.hmask);
}

void PutCodes(const uint8_t* codes, BlockQ4K& block) { PutNibbles(codes, 32, block.qs); }

void PutCodes(const uint8_t* codes, BlockQ5K& block) {
  PutNibbles(codes, 32, block.qs);
  PutBits(codes, 4, block.qh);
}

void PutCodes(const uint8_t* codes, BlockQ6K& block) {
  PutNibbles(codes, 64, block.ql);
  PutPairsOfBits(codes, 4, block.qh);
}

void PutCodes(const uint8_t* codes, BlockIQ4XS& block) { PutNibbles(codes, 16, block.qs); }

void PutCodes(const uint8_t* codes, BlockInt4& block) { PutHalves(codes, block.qs); }

void PutCodes(const uint8_t* codes, BlockInt8& block) {
  for (int i = 0; i < 32; ++i) block.qs[i] = static_cast<int8_t>(codes[i] - 128);
}

}  // namespace encode

namespace {

// Calls use(block) with the block in a variable of its type, and puts back what that has made of it.
template <typename Use>
void WithBlock(DType dtype, std::byte* bytes, Use use) {
  const auto with = [&]<typename Block>(Block block) {
    std::memcpy(&block, bytes, sizeof(block));
    use(block);
    std::memcpy(bytes, &block, sizeof(block));
  };
  switch (dtype) {
    case DType::kQ4_0:
      return with(BlockQ4_0{});
    case DType::kQ4_1:
      return with(BlockQ4_1{});
    case DType::kQ5_0:
      return with(BlockQ5_0{});
    case DType::kQ5_1:
      return with(BlockQ5_1{});
    case DType::kQ8_0:
      return with(BlockQ8_0{});
    case DType::kQ2_K:
      return with(BlockQ2K{});
    case DType::kQ3_K:
      return with(BlockQ3K{});
    case DType::kQ4_K:
      return with(BlockQ4K{});
    case DType::kQ5_K:
      return with(BlockQ5K{});
    case DType::kQ6_K:
      return with(BlockQ6K{});
    case DType::kIQ4_NL:
      return with(BlockIQ4NL{});
    case DType::kIQ4_XS:
      return with(BlockIQ4XS{});
    case DType::kInt4:
      return with(BlockInt4{});
    case DType::kInt8:
      return with(BlockInt8{});
    default:
      ADIT_CHECK(false);
  }
}

int CodesOf(DType dtype) {
  switch (dtype) {
    case DType::kQ2_K:
      return 4;
    case DType::kQ3_K:
      return 8;
    case DType::kQ4_0:
    case DType::kQ4_1:
    case DType::kQ4_K:
    case DType::kIQ4_NL:
    case DType::kIQ4_XS:
    case DType::kInt4:
      return 16;
    case DType::kQ5_0:
    case DType::kQ5_1:
    case DType::kQ5_K:
      return 32;
    case DType::kQ6_K:
      return 64;
    case DType::kQ8_0:
      return 255;
    case DType::kInt8:
      return 256;
    default:
      return 0;
  }
}

}  // namespace

int BlockGrid::Nearest(int element, float x) const {
  const float scale = step[static_cast<size_t>(element)];
  if (scale == 0.0f) return 0;
  const float level = (x - low[static_cast<size_t>(element)]) / scale;
  if (table == nullptr) {
    if (!(level > 0.0f)) return 0;
    return level >= static_cast<float>(num_codes - 1) ? num_codes - 1 : static_cast<int>(std::nearbyint(level));
  }
  const int8_t* above = std::lower_bound(table, table + num_codes, level,
                                         [](int8_t entry, float wanted) { return static_cast<float>(entry) < wanted; });
  if (above == table) return 0;
  if (above == table + num_codes) return num_codes - 1;
  const bool below_is_nearer = level - static_cast<float>(above[-1]) <= static_cast<float>(*above) - level;
  return static_cast<int>(above - table) - (below_is_nearer ? 1 : 0);
}

bool HasBlockGrid(DType dtype) { return CodesOf(dtype) > 0; }

// Told by what the block's own decoder makes of two codes.
BlockGrid GridOf(DType dtype, const std::byte* block) {
  const DTypeTraits& traits = Traits(dtype);
  BlockGrid grid;
  grid.num_codes = CodesOf(dtype);
  if (dtype == DType::kIQ4_NL || dtype == DType::kIQ4_XS) grid.table = kIQ4NLValues;
  const auto elements = static_cast<size_t>(traits.block_elements);
  std::array<std::byte, 256> bytes;
  ADIT_CHECK(static_cast<size_t>(traits.block_bytes) <= bytes.size());
  std::memcpy(bytes.data(), block, static_cast<size_t>(traits.block_bytes));
  const auto values_of = [&](int code) {
    std::array<uint8_t, BlockGrid::kMaxElements> codes;
    codes.fill(static_cast<uint8_t>(code));
    SetCodes(dtype, codes.data(), bytes.data());
    std::array<float, BlockGrid::kMaxElements> values = {};
    traits.decode(bytes.data(), values.data(), traits.block_elements);
    return values;
  };
  const int last = grid.num_codes - 1;
  const auto first_values = values_of(0);
  const auto last_values = values_of(last);
  const float span = static_cast<float>(grid.table != nullptr ? grid.table[last] - grid.table[0] : last);
  for (size_t i = 0; i < elements; ++i) {
    grid.step[i] = (last_values[i] - first_values[i]) / span;
    grid.low[i] = grid.table != nullptr ? 0.0f : first_values[i];
  }
  return grid;
}

void SetCodes(DType dtype, const uint8_t* codes, std::byte* block) {
  WithBlock(dtype, block, [codes](auto& typed) { encode::PutCodes(codes, typed); });
}

}  // namespace adit
