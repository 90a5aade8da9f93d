#ifndef ADIT_KERNELS_GENERIC_MATMUL_CODEC_H_
#define ADIT_KERNELS_GENERIC_MATMUL_CODEC_H_

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

// How the weights of one block type lie in a panel, how they get there and how they are read. A panel has V::kRows
// rows: the lanes of V::kVecs vectors. Columns are taken in blocks of 32, and each block in 8 quads, 4 columns that
// share a lane.
//
//   codes    [num_cols / 32]   kCodeBytes each: bit planes
//   records  [num_cols / (32 * kRecordBlocks)]   kRecordBytes each: the scales of one block of the file for every row
//
// each record before its codes (generic/matmul_panel.h). A plane is [quads][kRows][4] bytes; each byte holds the bits
// of up to eight columns:
//   4 bits   byte of quad q, q = 0..3: column of quad q in bits 3..0, of quad q + 4 in bits 7..4 (so the file has them)
//            or, where scales change every 16 columns, of quads 2q and 2q + 1
//   2 bits   byte of quad q, q = 0..1: bits 2i + 1..2i are those of quad 4q + i
//   1 bit    bit i is that of quad i
//   8 bits   quads as they are
// so that a panel takes as many bytes as the rows do in the file, but for scales of 6 bits, which take 8.
namespace adit::kernels::generic {

// The members that a codec has:
//   Block                        a block of the file, 32 * kRecordBlocks columns of a row
//   kRecordBlocks                1 or 8
//   kCodeBytes, kRecordBytes     as above
//   kSubBlocks                   scales for each 32 columns: 1 or 2
//   kHasMin                      weight = scale * code + min; otherwise scale * (code - offset)
//   kOffsetBits                  offset = 2^kOffsetBits, or 0 for no offset
//   Dot                          a sum of products of V, wide enough for the codes
//   kOrder                       the order in which quads are best read; those of a sub-block are together
//   kMaxDirectTokens             up to so many tokens, weights are faster decoded again for every four of them than
//   once
//                                for all and kept (measured on Zen 3)
//   Pack(block, codes, record, row)        writes row `row` of a record
//   Codes<quad>(codes, v)                  four codes for each lane of vector v
//   LoadRecord(record), Scale(r, record, sub_block, v), Min(r, record, sub_block, v)
//                                          of sub-block 0..kSubBlocks * kRecordBlocks - 1 of a record
template <DType kType, class V>
struct Codec;

// The parts that codecs have in common.
template <class V>
struct CodecParts {
  using F32 = typename V::F32;
  using Bytes = typename V::Bytes;
  static constexpr int kVecBytes = V::kLanes * 4;
  static constexpr int64_t kMaxDirectTokens = 8;
  static constexpr int64_t kMaxDirectTokensIfSimple = 16;  // where codes take no more than a shift and a mask

  [[gnu::always_inline]] static Bytes Load(const std::byte* plane, int quad, int v) {
    return V::Load(plane + quad * V::kQuadBytes + v * kVecBytes);
  }
  // Codes of quad g out of a plane of 4 bits.
  template <int g>
  [[gnu::always_inline]] static Bytes Nibbles(const std::byte* plane, int v) {
    return V::template ShiftAnd<g / 4 * -4>(Load(plane, g % 4, v), 0x0f);
  }
  // The same of the form for scales of 16 columns.
  template <int g>
  [[gnu::always_inline]] static Bytes NibblesInPairs(const std::byte* plane, int v) {
    return V::template ShiftAnd<g % 2 * -4>(Load(plane, g / 2, v), 0x0f);
  }
  // Two bits of quad g, moved up to bit kTo.
  template <int g, int kTo>
  [[gnu::always_inline]] static Bytes TwoBits(const std::byte* plane, int v) {
    return V::template ShiftAnd<kTo - g % 4 * 2>(Load(plane, g / 4, v), 3 << kTo);
  }
  // The bit of quad g, moved to bit kTo.
  template <int g, int kTo>
  [[gnu::always_inline]] static Bytes OneBit(const std::byte* plane, int v) {
    return V::template ShiftAnd<kTo - g>(Load(plane, 0, v), 1 << kTo);
  }
  [[gnu::always_inline]] static F32 LoadHalves(const std::byte* halves, int v) {
    return F32::LoadF16(reinterpret_cast<const uint16_t*>(halves) + v * V::kLanes);
  }
  [[gnu::always_inline]] static const uint8_t* RowBytesAt(const std::byte* record, int offset, int v) {
    return reinterpret_cast<const uint8_t*>(record) + offset * V::kRows + v * V::kLanes;
  }

  // Four neighbouring bytes of a block.
  [[gnu::always_inline]] static uint32_t Word(const uint8_t* bytes) {
    uint32_t word;
    __builtin_memcpy(&word, bytes, sizeof(word));
    return word;
  }
  [[gnu::always_inline]] static void PutQuad(std::byte* plane, int quad, int row, uint32_t word) {
    __builtin_memcpy(plane + quad * V::kQuadBytes + row * 4, &word, sizeof(word));
  }
  [[gnu::always_inline]] static void PutHalf(std::byte* halves, int row, uint16_t half) {
    __builtin_memcpy(halves + row * 2, &half, sizeof(half));
  }
};

// Quads in the order of planes of 4 bits, so that each byte is loaded once.
struct OrderByNibbles {
  static constexpr int kOrder[8] = {0, 4, 1, 5, 2, 6, 3, 7};
};
struct OrderAscending {
  static constexpr int kOrder[8] = {0, 1, 2, 3, 4, 5, 6, 7};
};

// A record that begins with one half-precision number for each row.
template <class V>
struct ScaleRecord {
  typename V::F32 scale[V::kVecs];
};
// A record that begins with two.
template <class V>
struct ScaleMinRecord {
  typename V::F32 scale[V::kVecs];
  typename V::F32 min[V::kVecs];
};

// Where codes fill eight bits: as bytes of either sign, or with 128 added where V multiplies unsigned codes alone.
template <class V>
struct EightBits {
  static constexpr int kOffsetBits = V::kSignedBytes ? 0 : 7;
  static constexpr uint8_t kFlip = V::kSignedBytes ? 0 : 0x80;
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_CODEC_H_
