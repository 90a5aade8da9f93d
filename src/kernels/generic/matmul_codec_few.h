#ifndef ADIT_KERNELS_GENERIC_MATMUL_CODEC_FEW_H_
#define ADIT_KERNELS_GENERIC_MATMUL_CODEC_FEW_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_codec.h"
#include "kernels/generic/matmul_codec_256.h"
#include "kernels/generic/matmul_codec_32.h"
#include "kernels/generic/unroll.h"
#include "tensor/mxfp4.h"
#include "tensor/nvfp4.h"
#include "tensor/tq1_0.h"
#include "tensor/tq2_0.h"

// Codecs of the types of few values: -1, 0 and 1, and floats of four bits.
namespace adit::kernels::generic {

// Values in two bits, read as 0, 2, 4, 6 around an offset of 2, so that half the factor is their scale. A record is the
// factors, half-precision [kRows].
template <class V, class BlockType>
struct CodecTernary : CodecParts<V>, OrderAscending {
  using Block = BlockType;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Dot = typename V::template UnsignedDot<7>;
  static constexpr int kRecordBlocks = 8;
  static constexpr int kSubBlocks = 1;
  static constexpr int kOffsetBits = 1;
  static constexpr bool kHasMin = false;
  static constexpr int kCodeBytes = 2 * V::kQuadBytes;
  static constexpr int kRecordBytes = V::kRows * 2;
  using Record = ScaleRecord<V>;

  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return Parts::template TwoBits<g, 1>(codes, v);
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) {
    Record r;
    Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
      r.scale[v.value] = F32::Mul(Parts::LoadHalves(record, v.value), F32::Broadcast(0.5f));
    });
    return r;
  }
  [[gnu::always_inline]] static F32 Scale(const Record& r, const std::byte*, int, int v) { return r.scale[v]; }

  // qs as TQ2_0 has it.
  static void PackCodes(const uint8_t qs[64], uint16_t d, std::byte* codes, std::byte* record, int row) {
    Parts::PutHalf(record, row, d);
    for (int b = 0; b < 8; ++b) PackTwoBits<V>(qs + 32 * (b / 4), b % 4, codes + b * kCodeBytes, row);
  }
};

template <class V>
struct Codec<DType::kTQ2_0, V> : CodecTernary<V, BlockTQ2_0> {
  static void Pack(const BlockTQ2_0& block, std::byte* codes, std::byte* record, int row) {
    CodecTernary<V, BlockTQ2_0>::PackCodes(block.qs, block.d, codes, record, row);
  }
};

// Five values in a byte are taken apart once, when packed: they would need more operations than their products, and the
// file's bytes of 20 columns do not come out even with blocks of 32. A panel takes 66 bytes for 54 of the file.
template <class V>
struct Codec<DType::kTQ1_0, V> : CodecTernary<V, BlockTQ1_0> {
  static void Pack(const BlockTQ1_0& block, std::byte* codes, std::byte* record, int row) {
    uint8_t qs[64] = {};
    for (int i = 0; i < 256; ++i) {
      const TernaryPlace place = TernaryPlaceOf(i);
      const uint8_t byte = place.byte < 48 ? block.qs[place.byte] : block.qh[place.byte - 48];
      uint8_t& to = qs[32 * (i / 128) + i % 32];
      to = static_cast<uint8_t>(to | TernaryDigit(byte, place.digit) << (2 * (i / 32 % 4)));
    }
    CodecTernary<V, BlockTQ1_0>::PackCodes(qs, block.d, codes, record, row);
  }
};

// The values of floats of four bits around an offset.
inline constexpr int kFP4OffsetBits = 4;
struct FP4Table {
  uint8_t codes[16];
};
consteval FP4Table MakeFP4Table() {
  FP4Table table = {};
  for (int i = 0; i < 16; ++i) table.codes[i] = static_cast<uint8_t>(kFP4Values[i] + (1 << kFP4OffsetBits));
  return table;
}
inline constexpr FP4Table kFP4Table = MakeFP4Table();

// A record is the powers of two of one block, a byte each [kRows].
template <class V>
struct Codec<DType::kMXFP4, V> : CodecParts<V>, OrderByNibbles {
  using Block = BlockMXFP4;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Dot = typename V::template UnsignedDot<31>;
  static constexpr int kRecordBlocks = 1;
  static constexpr int kSubBlocks = 1;
  static constexpr int kOffsetBits = kFP4OffsetBits;
  static constexpr bool kHasMin = false;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;
  static constexpr int kRecordBytes = V::kRows;
  struct Record {};

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    PackNibbles<V>(block.qs, codes, row);
    record[row] = static_cast<std::byte>(block.e);
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Lookup(kFP4Table.codes, Parts::template Nibbles<g>(codes, v));
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte*) { return {}; }
  [[gnu::always_inline]] static F32 Scale(const Record&, const std::byte* record, int, int v) {
    return V::PowersToFloat(Parts::RowBytesAt(record, 0, v));
  }
};

// A record is the scales of one block of the file, 64 columns, as [4][kRows] bytes; byte 0x7f, which stands for 0, is
// 0.
template <class V>
struct Codec<DType::kNVFP4, V> : CodecParts<V> {
  using Block = BlockNVFP4;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Dot = typename V::template UnsignedDot<31>;
  static constexpr int kRecordBlocks = 2;
  static constexpr int kSubBlocks = 2;
  static constexpr int kOffsetBits = kFP4OffsetBits;
  static constexpr bool kHasMin = false;
  static constexpr int kOrder[8] = {0, 2, 1, 3, 4, 6, 5, 7};
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;
  static constexpr int kRecordBytes = 4 * V::kRows;
  struct Record {};

  // Columns 8 apart share a byte, as in the file: quad q of 16 columns with quad q + 2.
  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    for (int b = 0; b < 2; ++b) PackNibbles<V>(block.qs + 16 * b, codes + b * kCodeBytes, row);
    for (int g = 0; g < 4; ++g) {
      const uint8_t scale = block.scales[g];
      record[g * V::kRows + row] = static_cast<std::byte>(scale == 0x7f ? 0 : scale);
    }
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    constexpr int kPlane = g / 4 * 2 + g % 2;
    const Bytes nibbles = V::template ShiftAnd<g % 4 / 2 * -4>(Parts::Load(codes, kPlane, v), 0x0f);
    return V::Lookup(kFP4Table.codes, nibbles);
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte*) { return {}; }
  [[gnu::always_inline]] static F32 Scale(const Record&, const std::byte* record, int sub_block, int v) {
    return V::E4M3ToHalfFloat(Parts::RowBytesAt(record, sub_block, v));
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_CODEC_FEW_H_
