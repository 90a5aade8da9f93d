#ifndef ADIT_KERNELS_GENERIC_MATMUL_CODEC_32_H_
#define ADIT_KERNELS_GENERIC_MATMUL_CODEC_32_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_codec.h"
#include "kernels/generic/unroll.h"
#include "tensor/int4.h"
#include "tensor/int8.h"
#include "tensor/iq4_nl.h"
#include "tensor/q4_0.h"
#include "tensor/q4_1.h"
#include "tensor/q5_0.h"
#include "tensor/q5_1.h"
#include "tensor/q8_0.h"

// Codecs of the types with blocks of 32 columns. A record is the scales of 32 columns as half-precision numbers
// [kRows], then the minima where the type has them.
namespace adit::kernels::generic {

template <class V>
struct Codec32 : CodecParts<V> {
  using Parts = CodecParts<V>;
  using typename Parts::F32;
  static constexpr int kRecordBlocks = 1;
  static constexpr int kSubBlocks = 1;
  static constexpr bool kHasMin = false;
  static constexpr int kRecordBytes = V::kRows * 2;
  using Record = ScaleRecord<V>;

  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) {
    Record r;
    Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA { r.scale[v.value] = Parts::LoadHalves(record, v.value); });
    return r;
  }
  [[gnu::always_inline]] static F32 Scale(const Record& r, const std::byte*, int, int v) { return r.scale[v]; }
};

template <class V>
struct Codec32WithMin : CodecParts<V> {
  using Parts = CodecParts<V>;
  using typename Parts::F32;
  static constexpr int kRecordBlocks = 1;
  static constexpr int kSubBlocks = 1;
  static constexpr int kOffsetBits = 0;
  static constexpr bool kHasMin = true;
  static constexpr int kRecordBytes = V::kRows * 4;
  using Record = ScaleMinRecord<V>;

  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) {
    Record r;
    Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
      r.scale[v.value] = Parts::LoadHalves(record, v.value);
      r.min[v.value] = Parts::LoadHalves(record + 2 * V::kRows, v.value);
    });
    return r;
  }
  [[gnu::always_inline]] static F32 Scale(const Record& r, const std::byte*, int, int v) { return r.scale[v]; }
  [[gnu::always_inline]] static F32 Min(const Record& r, const std::byte*, int, int v) { return r.min[v]; }
};

// The 16 bytes of nibbles that all these types but Q8_0 have are a plane of 4 bits already, row by row.
template <class V>
[[gnu::always_inline]] inline void PackNibbles(const uint8_t nibbles[16], std::byte* plane, int row) {
  using Parts = CodecParts<V>;
  for (int q = 0; q < 4; ++q) Parts::PutQuad(plane, q, row, Parts::Word(nibbles + 4 * q));
}

// The fifth bits of Q5_0 and Q5_1, bit i that of column i, as a plane of 1 bit: bits 4q..4q + 3 go to bit q of four
// bytes. The factor puts four copies of the bits 7 places apart, so that bit j of them comes to bit 8j.
template <class V>
[[gnu::always_inline]] inline void PackFifthBits(const uint8_t bits[4], std::byte* plane, int row) {
  using Parts = CodecParts<V>;
  const uint32_t all = Parts::Word(bits);
  uint32_t word = 0;
  for (int q = 0; q < 8; ++q) word |= ((all >> (4 * q) & 15) * 0x00204081u & 0x01010101u) << q;
  Parts::PutQuad(plane, 0, row, word);
}

template <class V>
struct Codec<DType::kQ4_0, V> : Codec32<V>, OrderByNibbles {
  using Block = BlockQ4_0;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<15>;
  static constexpr int kOffsetBits = 3;
  static constexpr int64_t kMaxDirectTokens = Parts::kMaxDirectTokensIfSimple;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackNibbles<V>(block.qs, codes, row);
    Parts::PutHalf(record, row, block.d);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::template Nibbles<g>(codes, v);
  }
};

template <class V>
struct Codec<DType::kQ4_1, V> : Codec32WithMin<V>, OrderByNibbles {
  using Block = BlockQ4_1;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<15>;
  static constexpr int64_t kMaxDirectTokens = Parts::kMaxDirectTokensIfSimple;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackNibbles<V>(block.qs, codes, row);
    Parts::PutHalf(record, row, block.d);
    Parts::PutHalf(record + 2 * V::kRows, row, block.m);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::template Nibbles<g>(codes, v);
  }
};

template <class V>
struct Codec<DType::kQ5_0, V> : Codec32<V>, OrderByNibbles {
  using Block = BlockQ5_0;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<31>;
  static constexpr int kOffsetBits = 4;
  static constexpr int kCodeBytes = 5 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackNibbles<V>(block.qs, codes, row);
    PackFifthBits<V>(block.qh, codes + 4 * V::kQuadBytes, row);
    Parts::PutHalf(record, row, block.d);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Or(Parts::template Nibbles<g>(codes, v), Parts::template OneBit<g, 4>(codes + 4 * V::kQuadBytes, v));
  }
};

template <class V>
struct Codec<DType::kQ5_1, V> : Codec32WithMin<V>, OrderByNibbles {
  using Block = BlockQ5_1;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::template UnsignedDot<31>;
  static constexpr int kCodeBytes = 5 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackNibbles<V>(block.qs, codes, row);
    PackFifthBits<V>(block.qh, codes + 4 * V::kQuadBytes, row);
    Parts::PutHalf(record, row, block.d);
    Parts::PutHalf(record + 2 * V::kRows, row, block.m);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Or(Parts::template Nibbles<g>(codes, v), Parts::template OneBit<g, 4>(codes + 4 * V::kQuadBytes, v));
  }
};

template <class V>
struct Codec<DType::kQ8_0, V> : Codec32<V>, OrderAscending {
  using Block = BlockQ8_0;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::ByteDot;
  static constexpr int kOffsetBits = EightBits<V>::kOffsetBits;
  static constexpr int64_t kMaxDirectTokens = Parts::kMaxDirectTokensIfSimple;
  static constexpr int kCodeBytes = 8 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    constexpr uint32_t kFlip = EightBits<V>::kFlip * 0x01010101u;
    const auto* bytes = reinterpret_cast<const uint8_t*>(block.qs);
    for (int q = 0; q < 8; ++q) Parts::PutQuad(codes, q, row, Parts::Word(bytes + 4 * q) ^ kFlip);
    Parts::PutHalf(record, row, block.d);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::Load(codes, g, v);
  }
};

// A zero point for each row follows the scales: one byte.
template <class V>
struct Codec<DType::kInt4, V> : Codec32WithMin<V>, OrderByNibbles {
  using Block = BlockInt4;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Record = ScaleMinRecord<V>;
  using Dot = typename V::template UnsignedDot<15>;
  static constexpr int64_t kMaxDirectTokens = Parts::kMaxDirectTokensIfSimple;
  static constexpr int kRecordBytes = V::kRows * 3;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackNibbles<V>(block.qs, codes, row);
    Parts::PutHalf(record, row, block.d);
    record[2 * V::kRows + row] = static_cast<std::byte>(block.zero);
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) {
    Record r;
    Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
      r.scale[v.value] = Parts::LoadHalves(record, v.value);
      const F32 zero = F32::LoadU8(Parts::RowBytesAt(record, 2, v.value));
      r.min[v.value] = F32::Mul(r.scale[v.value], F32::Sub(F32::Zero(), zero));
    });
    return r;
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::template Nibbles<g>(codes, v);
  }
};

// As Q8_0 with scales of single precision.
template <class V>
struct Codec<DType::kInt8, V> : Codec32<V>, OrderAscending {
  using Block = BlockInt8;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Record = ScaleRecord<V>;
  using Dot = typename V::ByteDot;
  static constexpr int kOffsetBits = EightBits<V>::kOffsetBits;
  static constexpr int64_t kMaxDirectTokens = Parts::kMaxDirectTokensIfSimple;
  static constexpr int kRecordBytes = V::kRows * 4;
  static constexpr int kCodeBytes = 8 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    constexpr uint32_t kFlip = EightBits<V>::kFlip * 0x01010101u;
    const auto* bytes = reinterpret_cast<const uint8_t*>(block.qs);
    for (int q = 0; q < 8; ++q) Parts::PutQuad(codes, q, row, Parts::Word(bytes + 4 * q) ^ kFlip);
    __builtin_memcpy(record + row * 4, &block.d, sizeof(block.d));
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) {
    Record r;
    Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
      r.scale[v.value] = F32::LoadU(reinterpret_cast<const float*>(record) + v.value * V::kLanes);
    });
    return r;
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::Load(codes, g, v);
  }
};

// Indices stay packed; their values are looked up as they are read.
template <class V>
struct IQ4Values {
  struct Table {
    uint8_t values[16];
  };
  static constexpr Table Make() {
    Table table = {};
    for (int i = 0; i < 16; ++i) {
      table.values[i] = static_cast<uint8_t>(static_cast<uint8_t>(kIQ4NLValues[i]) ^ EightBits<V>::kFlip);
    }
    return table;
  }
  static constexpr Table kTable = Make();
};

template <class V>
struct Codec<DType::kIQ4_NL, V> : Codec32<V>, OrderByNibbles {
  using Block = BlockIQ4NL;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using Dot = typename V::ByteDot;
  static constexpr int kOffsetBits = EightBits<V>::kOffsetBits;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackNibbles<V>(block.qs, codes, row);
    Parts::PutHalf(record, row, block.d);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Lookup(IQ4Values<V>::kTable.values, Parts::template Nibbles<g>(codes, v));
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_CODEC_32_H_
