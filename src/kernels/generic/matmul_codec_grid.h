#ifndef ADIT_KERNELS_GENERIC_MATMUL_CODEC_GRID_H_
#define ADIT_KERNELS_GENERIC_MATMUL_CODEC_GRID_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_codec.h"
#include "kernels/generic/unroll.h"
#include "tensor/iq1_m.h"
#include "tensor/iq1_s.h"
#include "tensor/iq2_s.h"
#include "tensor/iq2_xs.h"
#include "tensor/iq2_xxs.h"
#include "tensor/iq3_xxs.h"
#include "tensor/iq_grids.h"

// Codecs of the IQ types whose codes are indices into a grid, an index for eight columns, or for four in IQ3_XXS.
// Looking an index up gives two quads at once, so weights are taken a block of 32 columns of a vector at a time
// (ForQuads below instead of Codes and Scale).
//
// Of each block of 32 columns: the low bytes of the indices, [4 or 8][kRows], and then what the type has beside them
// for these columns, as numbers of 16 or 32 bits [kRows] or bytes [kRows]. Signs are a plane of 1 bit: bit g + 4h of
// byte j is that of column j of quad 2g + h. Records: the factors of a block of the file, half-precision [kRows], and
// scales that the file keeps in bytes, [bytes][kRows]. So a panel takes as much as the rows do in the file, but for
// IQ1_M, whose scales take a nibble.
//
// Bound by the look-ups: for eight rows and eight columns 16 loads, two inserts and six shuffles, AVX2. One Zen 3 core
// takes 20 billion weights a second of IQ2_XXS with one token, 16 of IQ2_XS, whose indices of nine bits are put
// together first, and 12 of IQ3_XXS; memory gives it 28 of Q4_K.
namespace adit::kernels::generic {

// The members that such a codec has: of those in generic/matmul_codec.h Block, kRecordBlocks, kCodeBytes, kRecordBytes,
// kSubBlocks, kHasMin, kOffsetBits, Dot, kMaxDirectTokens and Pack; and
//   LookDot              a sum of products of V, of what ForQuads gives
//   kLookHasOffset       whether these products are to have the offset taken off
//   LoadScales(codes, record, block, v, scale, min)
//                        scale[kSubBlocks], and min[kSubBlocks] where the type has minima, of vector v of block
//                        0..kRecordBlocks - 1 of a record
//   kNumGroups           indices of a row of a block that have to be put together; 0 where they are bytes of the panel
//   MakeIndices(codes, v, index)
//                        index[kNumGroups][kLanes] of vector v of a block, where there are such
//   ForQuads(codes, v, index, take)
//                        calls take(Index<quad>(), LookDot::Weight) for quads 0..7 of a block, in this order
//   ToCodes(weight)      its bytes with the offset
template <class V, int kSubBlocksOfType, int kOffset, int kMaxCode>
struct GridCodec : CodecParts<V> {
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Dot = typename V::template UnsignedDot<kMaxCode>;
  static constexpr bool kLooksUp = true;
  static constexpr int kNumGroups = 0;
  using Group = uint32_t[V::kLanes];
  static constexpr int kRecordBlocks = 8;
  static constexpr int kSubBlocks = kSubBlocksOfType;
  static constexpr int kOffsetBits = kOffset;
  static constexpr bool kHasMin = false;
  struct Record {};

  [[gnu::always_inline]] static Record LoadRecord(const std::byte*) { return {}; }
  [[gnu::always_inline]] static const uint8_t* IndexBytes(const std::byte* codes, int group, int v) {
    return Parts::RowBytesAt(codes, group, v);
  }
  // The low bytes of the indices of a group with the bits of `high`, moved up by kShift (down where negative), that
  // `mask` has.
  template <int kShift>
  [[gnu::always_inline]] static void Indices(const uint8_t* low, Bytes high, uint32_t mask, uint32_t* index) {
    V::StoreWords(index, V::Or(V::WidenBytes(low), V::template ShiftWordsAnd<kShift>(high, mask)));
  }
  [[gnu::always_inline]] static void MakeIndices(const std::byte*, int, Group*) {}
  // d * factor * (2 * scale + 1).
  [[gnu::always_inline]] static F32 OddScale(F32 d, float factor, F32 scale) {
    return F32::Mul(F32::Mul(d, F32::Broadcast(factor)), F32::Fma(scale, F32::Broadcast(2.0f), F32::Broadcast(1.0f)));
  }
  // The two scales of sixteen columns in a byte of the record.
  [[gnu::always_inline]] static void NibbleScales(const std::byte* record, int block, float factor, int v,
                                                  F32 (&scale)[2]) {
    const F32 d = Parts::LoadHalves(record, v);
    const uint8_t* bytes = Parts::RowBytesAt(record, 2 + block, v);
    scale[0] = OddScale(d, factor, V::template NibblesToFloat<0>(bytes));
    scale[1] = OddScale(d, factor, V::template NibblesToFloat<4>(bytes));
  }
  // The scale in bits 31..28 of words.
  [[gnu::always_inline]] static F32 WordScale(const std::byte* record, Bytes words, float factor, int v) {
    return OddScale(Parts::LoadHalves(record, v), factor, V::WordsToFloat(V::template ShiftWords<-28>(words)));
  }
  static void PutBytes(const uint8_t* from, int count, std::byte* to, int row) {
    for (int i = 0; i < count; ++i) to[i * V::kRows + row] = static_cast<std::byte>(from[i]);
  }
};

// Types whose grids have magnitudes, of kMaxMagnitude at most, and whose signs are apart.
template <class V, int kSubBlocksOfType, int kOffset, int kMaxMagnitude>
struct SignedGridCodec : GridCodec<V, kSubBlocksOfType, kOffset, (1 << kOffset) + kMaxMagnitude> {
  using Base = GridCodec<V, kSubBlocksOfType, kOffset, (1 << kOffset) + kMaxMagnitude>;
  using typename Base::Bytes;
  using LookDot = typename V::template SignedDot<kMaxMagnitude>;
  static constexpr bool kLookHasOffset = false;

  [[gnu::always_inline]] static Bytes ToCodes(typename V::SignedCodes codes) { return V::AddTo(1 << kOffset, codes); }
  template <int kQuad>
  [[gnu::always_inline]] static typename V::SignedCodes WithSigns(Bytes magnitudes, Bytes plane) {
    return V::template WithSigns<kQuad / 2 + 4 * (kQuad % 2)>(magnitudes, plane);
  }
  // Calls take with both quads of eight columns.
  template <int kGroup, class Take>
  [[gnu::always_inline]] static void TakePair(const Bytes (&pair)[2], Bytes plane, const Take& take) {
    take(Index<2 * kGroup>(), WithSigns<2 * kGroup>(pair[0], plane));
    take(Index<2 * kGroup + 1>(), WithSigns<2 * kGroup + 1>(pair[1], plane));
  }
  // The plane of one row from bytes of eight columns.
  static uint32_t SignPlane(const uint8_t (&signs)[4]) {
    uint32_t word = 0;
    for (int g = 0; g < 4; ++g) {
      for (int i = 0; i < 8; ++i) word |= uint32_t{signs[g]} >> i & 1 ? 1u << (8 * (i % 4) + g + 4 * (i / 4)) : 0u;
    }
    return word;
  }
  // The same of four times seven bits, the first in the lowest: bits 31..28, of the eighth, are left 0.
  static uint32_t SignPlaneOfSevens(uint32_t sevens) {
    uint8_t signs[4];
    for (int g = 0; g < 4; ++g) signs[g] = static_cast<uint8_t>(sevens >> (7 * g) & 0x7f);
    return SignPlane(signs);
  }
  // Sets bits 31..28 so that each of the four groups has an even number of signs (EvenSigns of iq_grids.h).
  [[gnu::always_inline]] static Bytes WithEighthSigns(Bytes words) {
    const Bytes sevens = V::template ShiftWordsAnd<0>(words, 0x0fffffff);
    const Bytes nibbles = V::Xor(sevens, V::template ShiftWords<-4>(sevens));
    const Bytes halves = V::Xor(nibbles, V::template ShiftWords<-16>(nibbles));
    const Bytes odd = V::Xor(halves, V::template ShiftWords<-8>(halves));
    return V::Or(sevens, V::template ShiftWords<28>(odd));
  }
};

template <class V>
struct Codec<DType::kIQ2_XXS, V> : SignedGridCodec<V, 1, 6, 43> {
  using Block = BlockIQ2XXS;
  using Base = SignedGridCodec<V, 1, 6, 43>;
  using typename Base::Bytes;
  using typename Base::F32;
  using typename Base::Group;
  static constexpr int kCodeBytes = 8 * V::kRows;
  static constexpr int kRecordBytes = 2 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      const uint32_t word = block.groups[b].signs;
      Base::PutBytes(block.groups[b].index, 4, codes, row);
      Base::PutQuad(codes + 4 * V::kRows, 0, row, Base::SignPlaneOfSevens(word) | word >> 28 << 28);
    }
  }
  [[gnu::always_inline]] static void LoadScales(const std::byte* codes, const std::byte* record, int, int v,
                                                F32 (&scale)[1], F32*) {
    scale[0] = Base::WordScale(record, Base::Load(codes + 4 * V::kRows, 0, v), 0.125f, v);
  }
  template <class Take>
  [[gnu::always_inline]] static void ForQuads(const std::byte* codes, int v, const Group*, const Take& take) {
    const Bytes signs = Base::WithEighthSigns(Base::Load(codes + 4 * V::kRows, 0, v));
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      Bytes pair[2];
      V::LookUpPair(kIQ2XXSGrid.entries, Base::IndexBytes(codes, group.value, v), pair);
      Base::template TakePair<group.value>(pair, signs, take);
    });
  }
};

// The nine bits of an index are parted: words hold four times seven bits of signs, and the highest bits above them.
template <class V>
struct Codec<DType::kIQ2_XS, V> : SignedGridCodec<V, 2, 6, 43> {
  using Block = BlockIQ2XS;
  using Base = SignedGridCodec<V, 2, 6, 43>;
  using typename Base::Bytes;
  using typename Base::F32;
  using typename Base::Group;
  static constexpr int kCodeBytes = 8 * V::kRows;
  static constexpr int kRecordBytes = 10 * V::kRows;
  static constexpr int kNumGroups = 4;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    Base::PutBytes(block.scales, 8, record + 2 * V::kRows, row);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      uint8_t low[4];
      uint32_t sevens = 0;
      uint32_t high = 0;
      for (int j = 0; j < 4; ++j) {
        const uint32_t q = block.qs[4 * b + j];
        low[j] = static_cast<uint8_t>(q);
        sevens |= q >> 9 << (7 * j);
        high |= (q >> 8 & 1) << (28 + j);
      }
      Base::PutBytes(low, 4, codes, row);
      Base::PutQuad(codes + 4 * V::kRows, 0, row, Base::SignPlaneOfSevens(sevens) | high);
    }
  }
  [[gnu::always_inline]] static void LoadScales(const std::byte*, const std::byte* record, int block, int v,
                                                F32 (&scale)[2], F32*) {
    Base::NibbleScales(record, block, 0.125f, v, scale);
  }
  [[gnu::always_inline]] static void MakeIndices(const std::byte* codes, int v, Group* index) {
    const Bytes words = Base::Load(codes + 4 * V::kRows, 0, v);
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      constexpr int j = group.value;
      Base::template Indices<-20 - j>(Base::IndexBytes(codes, j, v), words, 0x100, index[j]);
    });
  }
  template <class Take>
  [[gnu::always_inline]] static void ForQuads(const std::byte* codes, int v, const Group* index, const Take& take) {
    const Bytes signs = Base::WithEighthSigns(Base::Load(codes + 4 * V::kRows, 0, v));
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      Bytes pair[2];
      V::LookUpPair(kIQ2XSGrid.entries, index[group.value], pair);
      Base::template TakePair<group.value>(pair, signs, take);
    });
  }
};

template <class V>
struct Codec<DType::kIQ2_S, V> : SignedGridCodec<V, 2, 6, 43> {
  using Block = BlockIQ2S;
  using Base = SignedGridCodec<V, 2, 6, 43>;
  using typename Base::Bytes;
  using typename Base::F32;
  using typename Base::Group;
  static constexpr int kCodeBytes = 9 * V::kRows;
  static constexpr int kRecordBytes = 10 * V::kRows;
  static constexpr int kNumGroups = 4;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    Base::PutBytes(block.scales, 8, record + 2 * V::kRows, row);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      uint8_t signs[4];
      __builtin_memcpy(signs, block.signs + 4 * b, sizeof(signs));
      Base::PutBytes(block.qs + 4 * b, 4, codes, row);
      Base::PutQuad(codes + 4 * V::kRows, 0, row, Base::SignPlane(signs));
      codes[8 * V::kRows + row] = static_cast<std::byte>(block.qh[b]);
    }
  }
  [[gnu::always_inline]] static void LoadScales(const std::byte*, const std::byte* record, int block, int v,
                                                F32 (&scale)[2], F32*) {
    Base::NibbleScales(record, block, 0.125f, v, scale);
  }
  [[gnu::always_inline]] static void MakeIndices(const std::byte* codes, int v, Group* index) {
    const Bytes high = V::WidenBytes(Base::IndexBytes(codes, 8, v));
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      constexpr int j = group.value;
      Base::template Indices<8 - 2 * j>(Base::IndexBytes(codes, j, v), high, 0x300, index[j]);
    });
  }
  template <class Take>
  [[gnu::always_inline]] static void ForQuads(const std::byte* codes, int v, const Group* index, const Take& take) {
    const Bytes signs = Base::Load(codes + 4 * V::kRows, 0, v);
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      Bytes pair[2];
      V::LookUpPair(kIQ2SGrid.entries, index[group.value], pair);
      Base::template TakePair<group.value>(pair, signs, take);
    });
  }
};

// All magnitudes are even: half of them, 31 at most, takes a bit less.
template <class V>
struct Codec<DType::kIQ3_XXS, V> : SignedGridCodec<V, 1, 5, 31> {
  using Block = BlockIQ3XXS;
  using Base = SignedGridCodec<V, 1, 5, 31>;
  using typename Base::Bytes;
  using typename Base::F32;
  using typename Base::Group;
  static constexpr int kCodeBytes = 12 * V::kRows;
  static constexpr int kRecordBytes = 2 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      const uint32_t word = block.signs[b];
      Base::PutBytes(block.qs + 8 * b, 8, codes, row);
      Base::PutQuad(codes + 8 * V::kRows, 0, row, Base::SignPlaneOfSevens(word) | word >> 28 << 28);
    }
  }
  [[gnu::always_inline]] static void LoadScales(const std::byte* codes, const std::byte* record, int, int v,
                                                F32 (&scale)[1], F32*) {
    scale[0] = Base::WordScale(record, Base::Load(codes + 8 * V::kRows, 0, v), 0.5f, v);
  }
  template <class Take>
  [[gnu::always_inline]] static void ForQuads(const std::byte* codes, int v, const Group*, const Take& take) {
    const Bytes signs = Base::WithEighthSigns(Base::Load(codes + 8 * V::kRows, 0, v));
    Unroll<8>([&](auto quad) ADIT_INLINE_LAMBDA {
      const Bytes twice = V::LookUp(kIQ3XXSGrid.entries, Base::IndexBytes(codes, quad.value, v));
      take(quad, Base::template WithSigns<quad.value>(V::template ShiftWords<-1>(twice), signs));
    });
  }
};

// Values 0, 1 and 2, and the rest as a minimum: scale * (code - 1 + shift) = scale * code - scale * (8 -+ 1) / 8.
template <class V>
struct Codec<DType::kIQ1_S, V> : GridCodec<V, 1, 0, 3> {
  using Block = BlockIQ1S;
  using Base = GridCodec<V, 1, 0, 3>;
  using typename Base::Bytes;
  using typename Base::F32;
  using typename Base::Group;
  using LookDot = typename Base::Dot;
  static constexpr bool kLookHasOffset = false;
  static constexpr bool kHasMin = true;
  static constexpr int kCodeBytes = 6 * V::kRows;
  static constexpr int kRecordBytes = 2 * V::kRows;
  static constexpr int kNumGroups = 4;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      Base::PutBytes(block.qs + 4 * b, 4, codes, row);
      Base::PutHalf(codes + 4 * V::kRows, row, block.qh[b]);
    }
  }
  [[gnu::always_inline]] static void LoadScales(const std::byte* codes, const std::byte* record, int, int v,
                                                F32 (&scale)[1], F32 (&min)[1]) {
    const Bytes high = V::WidenHalves(codes + 4 * V::kRows, v);
    const F32 d = Base::LoadHalves(record, v);
    scale[0] = Base::OddScale(d, 1.0f, V::WordsToFloat(V::template ShiftWordsAnd<-12>(high, 7)));
    // Twice the sign bit as a number; 7 and it are eighths.
    const F32 eighths = F32::Add(V::WordsToFloat(V::template ShiftWordsAnd<-14>(high, 2)), F32::Broadcast(7.0f));
    min[0] = F32::Mul(scale[0], F32::Mul(eighths, F32::Broadcast(-0.125f)));
  }
  [[gnu::always_inline]] static Bytes ToCodes(Bytes codes) { return codes; }
  [[gnu::always_inline]] static void MakeIndices(const std::byte* codes, int v, Group* index) {
    const Bytes high = V::WidenHalves(codes + 4 * V::kRows, v);
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      constexpr int j = group.value;
      Base::template Indices<8 - 3 * j>(Base::IndexBytes(codes, j, v), high, 0x700, index[j]);
    });
  }
  template <class Take>
  [[gnu::always_inline]] static void ForQuads(const std::byte*, int, const Group* index, const Take& take) {
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      Bytes pair[2];
      V::LookUpPair(kIQ1SGrid.entries, index[group.value], pair);
      take(Index<2 * group.value>(), LookDot::Prepare(pair[0]));
      take(Index<2 * group.value + 1>(), LookDot::Prepare(pair[1]));
    });
  }
};

// Codes are eight times the value and its shift, around an offset of 16: 8 * (value + 1) + 8 +- 1.
template <class V>
struct Codec<DType::kIQ1_M, V> : GridCodec<V, 2, 4, 31> {
  using Block = BlockIQ1M;
  using Base = GridCodec<V, 2, 4, 31>;
  using typename Base::Bytes;
  using typename Base::F32;
  using typename Base::Group;
  using LookDot = typename Base::Dot;
  static constexpr bool kLookHasOffset = true;
  static constexpr int kCodeBytes = 6 * V::kRows;
  static constexpr int kRecordBytes = 10 * V::kRows;
  static constexpr int kNumGroups = 4;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, ScaleBitsOf(block));
    uint8_t scales[8];
    for (int b = 0; b < 8; ++b) {
      const int pair = block.scales[b / 2] >> (6 * (b % 2));
      scales[b] = static_cast<uint8_t>((pair & 7) | (pair >> 3 & 7) << 4);
    }
    Base::PutBytes(scales, 8, record + 2 * V::kRows, row);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      Base::PutBytes(block.qs + 4 * b, 4, codes, row);
      Base::PutHalf(codes + 4 * V::kRows, row, static_cast<uint16_t>(block.qh[2 * b] | block.qh[2 * b + 1] << 8));
    }
  }
  [[gnu::always_inline]] static void LoadScales(const std::byte*, const std::byte* record, int block, int v,
                                                F32 (&scale)[2], F32*) {
    Base::NibbleScales(record, block, 0.125f, v, scale);
  }
  [[gnu::always_inline]] static Bytes ToCodes(Bytes codes) { return codes; }
  [[gnu::always_inline]] static void MakeIndices(const std::byte* codes, int v, Group* index) {
    const Bytes high = V::WidenHalves(codes + 4 * V::kRows, v);
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      constexpr int j = group.value;
      Base::template Indices<8 - 4 * j>(Base::IndexBytes(codes, j, v), high, 0x700, index[j]);
    });
  }
  template <class Take>
  [[gnu::always_inline]] static void ForQuads(const std::byte* codes, int v, const Group* index, const Take& take) {
    const Bytes high = V::WidenHalves(codes + 4 * V::kRows, v);
    Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
      Bytes pair[2];
      V::LookUpPair(kIQ1SGrid.entries, index[group.value], pair);
      const auto negative = V::template LanesWithBit<4 * group.value + 3>(high);
      Unroll<2>([&](auto half) ADIT_INLINE_LAMBDA {
        const Bytes eighths = V::template ShiftAnd<3>(pair[half.value], 0x18);
        take(Index<2 * group.value + half.value>(), LookDot::Prepare(V::AddOneOfTwo(eighths, 9, 7, negative)));
      });
    });
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_CODEC_GRID_H_
