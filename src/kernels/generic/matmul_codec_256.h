#ifndef ADIT_KERNELS_GENERIC_MATMUL_CODEC_256_H_
#define ADIT_KERNELS_GENERIC_MATMUL_CODEC_256_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_codec.h"
#include "kernels/generic/matmul_codec_32.h"
#include "kernels/generic/unroll.h"
#include "tensor/iq4_xs.h"
#include "tensor/k_scales.h"
#include "tensor/q2_k.h"
#include "tensor/q3_k.h"
#include "tensor/q4_k.h"
#include "tensor/q5_k.h"
#include "tensor/q6_k.h"

// Codecs of the types with blocks of 256 columns. A record is one block of the file: its factor as half-precision
// numbers [kRows], for types with minima the negated factor of these, and then for each group of columns the integer
// scales [kRows], one byte each.
namespace adit::kernels::generic {

// weight = d * scale * (code - offset), scale a signed byte. kGroups groups of columns have a scale.
template <class V, int kGroups>
struct Codec256 : CodecParts<V> {
  using Parts = CodecParts<V>;
  using typename Parts::F32;
  static constexpr int kRecordBlocks = 8;
  static constexpr int kSubBlocks = kGroups / 8;
  static constexpr bool kHasMin = false;
  static constexpr int kRecordBytes = V::kRows * (2 + kGroups);
  using Record = ScaleRecord<V>;

  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) {
    Record r;
    Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA { r.scale[v.value] = Parts::LoadHalves(record, v.value); });
    return r;
  }
  [[gnu::always_inline]] static F32 Scale(const Record& r, const std::byte* record, int sub_block, int v) {
    const auto* scales = reinterpret_cast<const int8_t*>(Parts::RowBytesAt(record, 2 + sub_block, v));
    return F32::Mul(r.scale[v], F32::LoadI8(scales));
  }
  // scales[kGroups] of one row.
  static void PackScales(uint16_t d, const int8_t* scales, std::byte* record, int row) {
    Parts::PutHalf(record, row, d);
    for (int g = 0; g < kGroups; ++g) record[(2 + g) * V::kRows + row] = static_cast<std::byte>(scales[g]);
  }
};

template <class V>
[[gnu::always_inline]] inline ScaleMinRecord<V> LoadScaleMinRecord(const std::byte* record) {
  using Parts = CodecParts<V>;
  ScaleMinRecord<V> r;
  Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
    r.scale[v.value] = Parts::LoadHalves(record, v.value);
    r.min[v.value] = Parts::LoadHalves(record + 2 * V::kRows, v.value);
  });
  return r;
}

// The factors of a row with minima; that of the minima is negated, so that the product adds them.
template <class V>
[[gnu::always_inline]] inline void PackScaleMin(uint16_t d, uint16_t dmin, std::byte* record, int row) {
  CodecParts<V>::PutHalf(record, row, d);
  CodecParts<V>::PutHalf(record + 2 * V::kRows, row, dmin ^ 0x8000);
}

// Q4_K and Q5_K: weight = d * scale * code - dmin * min for each 32 columns.
template <class V>
struct CodecKScales : CodecParts<V> {
  using Parts = CodecParts<V>;
  using typename Parts::F32;
  static constexpr int kRecordBlocks = 8;
  static constexpr int kSubBlocks = 1;
  static constexpr int kOffsetBits = 0;
  static constexpr bool kHasMin = true;
  static constexpr int kRecordBytes = V::kRows * (4 + 2 * 8);
  using Record = ScaleMinRecord<V>;

  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) { return LoadScaleMinRecord<V>(record); }
  [[gnu::always_inline]] static F32 Scale(const Record& r, const std::byte* record, int sub_block, int v) {
    return F32::Mul(r.scale[v], F32::LoadU8(Parts::RowBytesAt(record, 4 + 2 * sub_block, v)));
  }
  [[gnu::always_inline]] static F32 Min(const Record& r, const std::byte* record, int sub_block, int v) {
    return F32::Mul(r.min[v], F32::LoadU8(Parts::RowBytesAt(record, 5 + 2 * sub_block, v)));
  }
  static void PackScales(uint16_t d, uint16_t dmin, const uint8_t packed[12], std::byte* record, int row) {
    PackScaleMin<V>(d, dmin, record, row);
    KScale scales[8];
    UnpackKScales(packed, scales);
    for (int g = 0; g < 8; ++g) {
      record[(4 + 2 * g) * V::kRows + row] = static_cast<std::byte>(scales[g].scale);
      record[(5 + 2 * g) * V::kRows + row] = static_cast<std::byte>(scales[g].min);
    }
  }
  // The file has columns 64p + j and 64p + 32 + j in one byte, the plane columns 16 apart.
  static void PackNibblesOfBlock(const uint8_t qs[128], int b, std::byte* plane, int row) {
    constexpr uint32_t kLow = 0x0f0f0f0fu;
    const uint8_t* bytes = qs + 32 * (b / 2);
    const int shift = 4 * (b % 2);
    for (int q = 0; q < 4; ++q) {
      const uint32_t low = Parts::Word(bytes + 4 * q) >> shift & kLow;
      const uint32_t high = Parts::Word(bytes + 16 + 4 * q) >> shift & kLow;
      Parts::PutQuad(plane, q, row, low | high << 4);
    }
  }
};

// Bit b of 32 bytes as a plane of 1 bit: the form in which Q3_K and Q5_K hold their highest bits.
template <class V>
[[gnu::always_inline]] inline void PackHighestBits(const uint8_t bytes[32], int b, std::byte* plane, int row) {
  using Parts = CodecParts<V>;
  uint32_t word = 0;
  for (int q = 0; q < 8; ++q) word |= (Parts::Word(bytes + 4 * q) >> b & 0x01010101u) << q;
  Parts::PutQuad(plane, 0, row, word);
}

// Bits 2i + 1..2i of 32 bytes as a plane of 2 bits: the form in which Q2_K, Q3_K and Q6_K hold four blocks in 32 bytes.
template <class V>
[[gnu::always_inline]] inline void PackTwoBits(const uint8_t bytes[32], int i, std::byte* plane, int row) {
  using Parts = CodecParts<V>;
  for (int half = 0; half < 2; ++half) {
    uint32_t word = 0;
    for (int q = 0; q < 4; ++q) word |= (Parts::Word(bytes + 16 * half + 4 * q) >> (2 * i) & 0x03030303u) << (2 * q);
    Parts::PutQuad(plane, half, row, word);
  }
}

template <class V>
struct Codec<DType::kQ2_K, V> : CodecParts<V>, OrderAscending {
  using Block = BlockQ2K;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Dot = typename V::template UnsignedDot<3>;
  static constexpr int kRecordBlocks = 8;
  static constexpr int kSubBlocks = 2;
  static constexpr int kOffsetBits = 0;
  static constexpr bool kHasMin = true;
  static constexpr int kCodeBytes = 2 * V::kQuadBytes;
  static constexpr int kRecordBytes = V::kRows * (4 + 16);
  using Record = ScaleMinRecord<V>;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackScaleMin<V>(block.d, block.dmin, record, row);
    // Scale and minimum of a group stay together in a byte.
    for (int g = 0; g < 16; ++g) record[(4 + g) * V::kRows + row] = static_cast<std::byte>(block.scales[g]);
    for (int b = 0; b < 8; ++b) PackTwoBits<V>(block.qs + 32 * (b / 4), b % 4, codes + b * kCodeBytes, row);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::template TwoBits<g, 0>(codes, v);
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) { return LoadScaleMinRecord<V>(record); }
  [[gnu::always_inline]] static F32 Scale(const Record& r, const std::byte* record, int sub_block, int v) {
    return F32::Mul(r.scale[v], V::template NibblesToFloat<0>(Parts::RowBytesAt(record, 4 + sub_block, v)));
  }
  [[gnu::always_inline]] static F32 Min(const Record& r, const std::byte* record, int sub_block, int v) {
    return F32::Mul(r.min[v], V::template NibblesToFloat<4>(Parts::RowBytesAt(record, 4 + sub_block, v)));
  }
};

template <class V>
struct Codec<DType::kQ3_K, V> : Codec256<V, 16>, OrderAscending {
  using Block = BlockQ3K;
  using Base = Codec256<V, 16>;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<7>;
  static constexpr int kOffsetBits = 2;
  static constexpr int kCodeBytes = 3 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    int8_t scales[16];
    UnpackQ3KScales(block.scales, scales);
    Base::PackScales(block.d, scales, record, row);
    for (int b = 0; b < 8; ++b) {
      PackTwoBits<V>(block.qs + 32 * (b / 4), b % 4, codes + b * kCodeBytes, row);
      PackHighestBits<V>(block.hmask, b, codes + b * kCodeBytes + 2 * V::kQuadBytes, row);
    }
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Or(Parts::template TwoBits<g, 0>(codes, v), Parts::template OneBit<g, 2>(codes + 2 * V::kQuadBytes, v));
  }
};

template <class V>
struct Codec<DType::kQ4_K, V> : CodecKScales<V>, OrderByNibbles {
  using Block = BlockQ4K;
  using Base = CodecKScales<V>;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<15>;
  static constexpr int64_t kMaxDirectTokens = Parts::kMaxDirectTokensIfSimple;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PackScales(block.d, block.dmin, block.scales, record, row);
    for (int b = 0; b < 8; ++b) Base::PackNibblesOfBlock(block.qs, b, codes + b * kCodeBytes, row);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::template Nibbles<g>(codes, v);
  }
};

template <class V>
struct Codec<DType::kQ5_K, V> : CodecKScales<V>, OrderByNibbles {
  using Block = BlockQ5K;
  using Base = CodecKScales<V>;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<31>;
  static constexpr int kCodeBytes = 5 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PackScales(block.d, block.dmin, block.scales, record, row);
    for (int b = 0; b < 8; ++b) {
      Base::PackNibblesOfBlock(block.qs, b, codes + b * kCodeBytes, row);
      PackHighestBits<V>(block.qh, b, codes + b * kCodeBytes + 4 * V::kQuadBytes, row);
    }
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Or(Parts::template Nibbles<g>(codes, v), Parts::template OneBit<g, 4>(codes + 4 * V::kQuadBytes, v));
  }
};

template <class V>
struct Codec<DType::kQ6_K, V> : Codec256<V, 16>, OrderAscending {
  using Block = BlockQ6K;
  using Base = Codec256<V, 16>;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<63>;
  static constexpr int kOffsetBits = 5;
  static constexpr int kCodeBytes = 6 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PackScales(block.d, block.scales, record, row);
    for (int b = 0; b < 8; ++b) {
      PackLowBits(block.ql + 64 * (b / 4) + 32 * (b % 2), 4 * (b / 2 % 2), codes + b * kCodeBytes, row);
      PackTwoBits<V>(block.qh + 32 * (b / 4), b % 4, codes + b * kCodeBytes + 4 * V::kQuadBytes, row);
    }
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Or(Parts::template NibblesInPairs<g>(codes, v),
                 Parts::template TwoBits<g, 4>(codes + 4 * V::kQuadBytes, v));
  }

 private:
  static void PackLowBits(const uint8_t bytes[32], int shift, std::byte* plane, int row) {
    constexpr uint32_t kLow = 0x0f0f0f0fu;
    for (int q = 0; q < 4; ++q) {
      const uint32_t even = Parts::Word(bytes + 8 * q) >> shift & kLow;
      const uint32_t odd = Parts::Word(bytes + 8 * q + 4) >> shift & kLow;
      Parts::PutQuad(plane, q, row, even | odd << 4);
    }
  }
};

template <class V>
struct Codec<DType::kIQ4_XS, V> : Codec256<V, 8>, OrderByNibbles {
  using Block = BlockIQ4XS;
  using Base = Codec256<V, 8>;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::ByteDot;
  static constexpr int kOffsetBits = EightBits<V>::kOffsetBits;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    int8_t scales[8];
    for (int g = 0; g < 8; ++g) {
      const int low = block.scales_l[g / 2] >> (4 * (g % 2)) & 15;
      const int high = block.scales_h >> (2 * g) & 3;
      scales[g] = static_cast<int8_t>((low | high << 4) - 32);
    }
    Base::PackScales(block.d, scales, record, row);
    for (int b = 0; b < 8; ++b) PackNibbles<V>(block.qs + 16 * b, codes + b * kCodeBytes, row);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Lookup(IQ4Values<V>::kTable.values, Parts::template Nibbles<g>(codes, v));
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_CODEC_256_H_
