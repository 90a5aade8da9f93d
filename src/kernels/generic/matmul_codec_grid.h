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
#include "tensor/iq3_s.h"
#include "tensor/iq3_xxs.h"
#include "tensor/iq_grids.h"

// Codecs of the IQ types whose codes are indices into a grid, an index for eight columns, or for four in IQ3. Looking
// an index up gives two quads at once, so weights are decoded a block of 32 columns at a time into the first-level
// cache, however few the tokens are (DecodeBlock below instead of Codes and Scale).
//
// Of each block of 32 columns: the low bytes of the indices, [4 or 8][kRows], and then what the type has beside them
// for these columns, as numbers of 16 or 32 bits [kRows] or bytes [kRows]. Records: the factors of a block of the file,
// half-precision [kRows], and scales that the file keeps in bytes, [bytes][kRows]. So a panel takes as much as the rows
// do in the file, but for IQ1_M, whose scales take a nibble.
//
// Bound by the look-ups: 16 loads, four inserts and six shuffles for eight rows and eight columns, AVX2, and eight more
// operations for signs. One Zen 3 core takes 14 billion weights a second of IQ2_XXS with one token, and 10 of IQ2_XS,
// whose indices of nine bits are put together first; memory gives it 28 of Q4_K.
namespace adit::kernels::generic {

// The members that such a codec has: of those in generic/matmul_codec.h Block, kRecordBlocks, kCodeBytes, kRecordBytes,
// kSubBlocks, kHasMin, kOffsetBits, Dot, kMaxDirectTokens and Pack; and
//   DecodeBlock(codes, record, block, out, scales)
//       block 0..kRecordBlocks - 1 of a record: the codes as bytes, [8 quads][kRows][4], and [kSubBlocks][kRows]
//       scales, followed by as many minima where the type has them
template <class V, int kSubBlocksOfType, int kOffset, int kMaxCode>
struct GridCodec : CodecParts<V> {
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Dot = typename V::template UnsignedDot<kMaxCode>;
  static constexpr bool kDecodesBlocks = true;
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
  [[gnu::always_inline]] static void PutCodes(std::byte* out, int quad, int v, Bytes codes) {
    V::Store(out + quad * V::kQuadBytes + v * V::kLanes * 4, codes);
  }
  // Quad 2 * kGroup + kHalf of magnitudes, with bits 4 * kHalf + 3.. of byte kGroup of `signs`.
  template <int kGroup, int kHalf>
  [[gnu::always_inline]] static void PutSigned(std::byte* out, int v, Bytes magnitudes, Bytes signs) {
    const auto negative = V::template BitsOfByte<kGroup, kHalf>(signs);
    PutCodes(out, 2 * kGroup + kHalf, v, V::AddOrSubtract(1 << kOffset, magnitudes, negative));
  }
  template <int kGroup>
  [[gnu::always_inline]] static void PutSignedPair(std::byte* out, int v, const Bytes (&pair)[2], Bytes signs) {
    PutSigned<kGroup, 0>(out, v, pair[0], signs);
    PutSigned<kGroup, 1>(out, v, pair[1], signs);
  }
  // Four bytes of signs out of four times seven bits: the eighth makes their number even (EvenSigns of iq_grids.h).
  [[gnu::always_inline]] static Bytes ExpandSigns(Bytes words) {
    static constexpr uint8_t kOdd[16] = {0, 0x80, 0x80, 0, 0x80, 0, 0, 0x80, 0x80, 0, 0, 0x80, 0, 0x80, 0x80, 0};
    const Bytes low = V::Or(V::template ShiftWordsAnd<0>(words, 0x7f), V::template ShiftWordsAnd<1>(words, 0x7f00));
    const Bytes high =
        V::Or(V::template ShiftWordsAnd<2>(words, 0x7f0000), V::template ShiftWordsAnd<3>(words, 0x7f000000));
    const Bytes seven = V::Or(low, high);
    const Bytes folded = V::template ShiftAnd<0>(V::Xor(seven, V::template ShiftAnd<-4>(seven, 0x0f)), 0x0f);
    return V::Or(seven, V::Lookup(kOdd, folded));
  }
  // d * factor * (2 * scale + 1).
  [[gnu::always_inline]] static F32 OddScale(F32 d, float factor, F32 scale) {
    return F32::Mul(F32::Mul(d, F32::Broadcast(factor)), F32::Fma(scale, F32::Broadcast(2.0f), F32::Broadcast(1.0f)));
  }
  // The two scales of sixteen columns in a byte of the record.
  [[gnu::always_inline]] static void PutNibbleScales(const std::byte* record, int block, float factor, int v,
                                                     float* scales) {
    const F32 d = Parts::LoadHalves(record, v);
    const uint8_t* bytes = Parts::RowBytesAt(record, 2 + block, v);
    F32::Store(scales + v * V::kLanes, OddScale(d, factor, V::template NibblesToFloat<0>(bytes)));
    F32::Store(scales + V::kRows + v * V::kLanes, OddScale(d, factor, V::template NibblesToFloat<4>(bytes)));
  }
  // The scale in bits 31..28 of words.
  [[gnu::always_inline]] static void PutWordScale(const std::byte* record, Bytes words, float factor, int v,
                                                  float* scales) {
    const F32 scale = V::WordsToFloat(V::template ShiftWordsAnd<-28>(words, 15));
    F32::Store(scales + v * V::kLanes, OddScale(Parts::LoadHalves(record, v), factor, scale));
  }
  static void PutBytes(const uint8_t* from, int count, std::byte* to, int row) {
    for (int i = 0; i < count; ++i) to[i * V::kRows + row] = static_cast<std::byte>(from[i]);
  }
};

template <class V>
struct Codec<DType::kIQ2_XXS, V> : GridCodec<V, 1, 6, 127> {
  using Block = BlockIQ2XXS;
  using Base = GridCodec<V, 1, 6, 127>;
  using typename Base::Bytes;
  static constexpr int kCodeBytes = 8 * V::kRows;
  static constexpr int kRecordBytes = 2 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      Base::PutBytes(block.groups[b].index, 4, codes, row);
      Base::PutQuad(codes + 4 * V::kRows, 0, row, block.groups[b].signs);
    }
  }
  static void DecodeBlock(const std::byte* codes, const std::byte* record, int, std::byte* out, float* scales) {
    for (int v = 0; v < V::kVecs; ++v) {
      const Bytes words = Base::Load(codes + 4 * V::kRows, 0, v);
      Base::PutWordScale(record, words, 0.125f, v, scales);
      const Bytes signs = Base::ExpandSigns(words);
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        Bytes pair[2];
        V::LookUpPair(kIQ2XXSGrid.entries, Base::IndexBytes(codes, group.value, v), pair);
        Base::template PutSignedPair<group.value>(out, v, pair, signs);
      });
    }
  }
};

// The nine bits of an index are parted: words hold four times seven bits of signs, and the highest bits above them.
template <class V>
struct Codec<DType::kIQ2_XS, V> : GridCodec<V, 2, 6, 127> {
  using Block = BlockIQ2XS;
  using Base = GridCodec<V, 2, 6, 127>;
  using typename Base::Bytes;
  static constexpr int kCodeBytes = 8 * V::kRows;
  static constexpr int kRecordBytes = 10 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    Base::PutBytes(block.scales, 8, record + 2 * V::kRows, row);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      uint8_t low[4];
      uint32_t word = 0;
      for (int j = 0; j < 4; ++j) {
        const uint32_t q = block.qs[4 * b + j];
        low[j] = static_cast<uint8_t>(q);
        word |= q >> 9 << (7 * j) | (q >> 8 & 1) << (28 + j);
      }
      Base::PutBytes(low, 4, codes, row);
      Base::PutQuad(codes + 4 * V::kRows, 0, row, word);
    }
  }
  static void DecodeBlock(const std::byte* codes, const std::byte* record, int block, std::byte* out, float* scales) {
    for (int v = 0; v < V::kVecs; ++v) {
      Base::PutNibbleScales(record, block, 0.125f, v, scales);
      const Bytes words = Base::Load(codes + 4 * V::kRows, 0, v);
      const Bytes signs = Base::ExpandSigns(words);
      alignas(64) uint32_t index[4][V::kLanes];
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        constexpr int j = group.value;
        Base::template Indices<-20 - j>(Base::IndexBytes(codes, j, v), words, 0x100, index[j]);
      });
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        Bytes pair[2];
        V::LookUpPair(kIQ2XSGrid.entries, index[group.value], pair);
        Base::template PutSignedPair<group.value>(out, v, pair, signs);
      });
    }
  }
};

template <class V>
struct Codec<DType::kIQ2_S, V> : GridCodec<V, 2, 6, 127> {
  using Block = BlockIQ2S;
  using Base = GridCodec<V, 2, 6, 127>;
  using typename Base::Bytes;
  static constexpr int kCodeBytes = 9 * V::kRows;
  static constexpr int kRecordBytes = 10 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    Base::PutBytes(block.scales, 8, record + 2 * V::kRows, row);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      Base::PutBytes(block.qs + 4 * b, 4, codes, row);
      Base::PutQuad(codes + 4 * V::kRows, 0, row, Base::Word(block.signs + 4 * b));
      codes[8 * V::kRows + row] = static_cast<std::byte>(block.qh[b]);
    }
  }
  static void DecodeBlock(const std::byte* codes, const std::byte* record, int block, std::byte* out, float* scales) {
    for (int v = 0; v < V::kVecs; ++v) {
      Base::PutNibbleScales(record, block, 0.125f, v, scales);
      const Bytes signs = Base::Load(codes + 4 * V::kRows, 0, v);
      const Bytes high = V::WidenBytes(Base::IndexBytes(codes, 8, v));
      alignas(64) uint32_t index[4][V::kLanes];
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        constexpr int j = group.value;
        Base::template Indices<8 - 2 * j>(Base::IndexBytes(codes, j, v), high, 0x300, index[j]);
      });
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        Bytes pair[2];
        V::LookUpPair(kIQ2SGrid.entries, index[group.value], pair);
        Base::template PutSignedPair<group.value>(out, v, pair, signs);
      });
    }
  }
};

template <class V>
struct Codec<DType::kIQ3_XXS, V> : GridCodec<V, 1, 6, 127> {
  using Block = BlockIQ3XXS;
  using Base = GridCodec<V, 1, 6, 127>;
  using typename Base::Bytes;
  static constexpr int kCodeBytes = 12 * V::kRows;
  static constexpr int kRecordBytes = 2 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      Base::PutBytes(block.qs + 8 * b, 8, codes, row);
      Base::PutQuad(codes + 8 * V::kRows, 0, row, block.signs[b]);
    }
  }
  static void DecodeBlock(const std::byte* codes, const std::byte* record, int, std::byte* out, float* scales) {
    for (int v = 0; v < V::kVecs; ++v) {
      const Bytes words = Base::Load(codes + 8 * V::kRows, 0, v);
      Base::PutWordScale(record, words, 0.25f, v, scales);
      const Bytes signs = Base::ExpandSigns(words);
      Unroll<8>([&](auto quad) ADIT_INLINE_LAMBDA {
        const Bytes magnitudes = V::LookUp(kIQ3XXSGrid.entries, Base::IndexBytes(codes, quad.value, v));
        Base::template PutSigned<quad.value / 2, quad.value % 2>(out, v, magnitudes, signs);
      });
    }
  }
};

template <class V>
struct Codec<DType::kIQ3_S, V> : GridCodec<V, 1, 4, 31> {
  using Block = BlockIQ3S;
  using Base = GridCodec<V, 1, 4, 31>;
  using typename Base::Bytes;
  using typename Base::F32;
  static constexpr int kCodeBytes = 13 * V::kRows;
  static constexpr int kRecordBytes = 6 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    Base::PutBytes(block.scales, 4, record + 2 * V::kRows, row);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      Base::PutBytes(block.qs + 8 * b, 8, codes, row);
      Base::PutQuad(codes + 8 * V::kRows, 0, row, Base::Word(block.signs + 4 * b));
      codes[12 * V::kRows + row] = static_cast<std::byte>(block.qh[b]);
    }
  }
  static void DecodeBlock(const std::byte* codes, const std::byte* record, int block, std::byte* out, float* scales) {
    for (int v = 0; v < V::kVecs; ++v) {
      const uint8_t* bytes = Base::RowBytesAt(record, 2 + block / 2, v);
      const F32 scale = block % 2 == 0 ? V::template NibblesToFloat<0>(bytes) : V::template NibblesToFloat<4>(bytes);
      F32::Store(scales + v * V::kLanes, Base::OddScale(Base::LoadHalves(record, v), 1.0f, scale));
      const Bytes signs = Base::Load(codes + 8 * V::kRows, 0, v);
      const Bytes high = V::WidenBytes(Base::IndexBytes(codes, 12, v));
      alignas(64) uint32_t index[8][V::kLanes];
      Unroll<8>([&](auto quad) ADIT_INLINE_LAMBDA {
        constexpr int q = quad.value;
        Base::template Indices<8 - q>(Base::IndexBytes(codes, q, v), high, 0x100, index[q]);
      });
      Unroll<8>([&](auto quad) ADIT_INLINE_LAMBDA {
        const Bytes magnitudes = V::LookUp(kIQ3SGrid.entries, index[quad.value]);
        Base::template PutSigned<quad.value / 2, quad.value % 2>(out, v, magnitudes, signs);
      });
    }
  }
};

// Values 0, 1 and 2, and the rest as a minimum: scale * (code - 1 + shift) = scale * code - scale * (8 -+ 1) / 8.
template <class V>
struct Codec<DType::kIQ1_S, V> : GridCodec<V, 1, 0, 3> {
  using Block = BlockIQ1S;
  using Base = GridCodec<V, 1, 0, 3>;
  using typename Base::Bytes;
  using typename Base::F32;
  static constexpr bool kHasMin = true;
  static constexpr int kCodeBytes = 6 * V::kRows;
  static constexpr int kRecordBytes = 2 * V::kRows;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Base::PutHalf(record, row, block.d);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      Base::PutBytes(block.qs + 4 * b, 4, codes, row);
      Base::PutHalf(codes + 4 * V::kRows, row, block.qh[b]);
    }
  }
  static void DecodeBlock(const std::byte* codes, const std::byte* record, int, std::byte* out, float* scales) {
    for (int v = 0; v < V::kVecs; ++v) {
      const Bytes high = V::WidenHalves(codes + 4 * V::kRows, v);
      const F32 scale =
          Base::OddScale(Base::LoadHalves(record, v), 1.0f, V::WordsToFloat(V::template ShiftWordsAnd<-12>(high, 7)));
      F32::Store(scales + v * V::kLanes, scale);
      // Twice the sign bit as a number; 7 and it are eighths.
      const F32 eighths = F32::Add(V::WordsToFloat(V::template ShiftWordsAnd<-14>(high, 2)), F32::Broadcast(7.0f));
      F32::Store(scales + V::kRows + v * V::kLanes, F32::Mul(scale, F32::Mul(eighths, F32::Broadcast(-0.125f))));
      alignas(64) uint32_t index[4][V::kLanes];
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        constexpr int j = group.value;
        Base::template Indices<8 - 3 * j>(Base::IndexBytes(codes, j, v), high, 0x700, index[j]);
      });
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        Bytes pair[2];
        V::LookUpPair(kIQ1SGrid.entries, index[group.value], pair);
        for (int half = 0; half < 2; ++half) Base::PutCodes(out, 2 * group.value + half, v, pair[half]);
      });
    }
  }
};

// Codes are eight times the value and its shift, around an offset of 16: 8 * (value + 1) + 8 +- 1.
template <class V>
struct Codec<DType::kIQ1_M, V> : GridCodec<V, 2, 4, 31> {
  using Block = BlockIQ1M;
  using Base = GridCodec<V, 2, 4, 31>;
  using typename Base::Bytes;
  static constexpr int kCodeBytes = 6 * V::kRows;
  static constexpr int kRecordBytes = 10 * V::kRows;

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
  static void DecodeBlock(const std::byte* codes, const std::byte* record, int block, std::byte* out, float* scales) {
    for (int v = 0; v < V::kVecs; ++v) {
      Base::PutNibbleScales(record, block, 0.125f, v, scales);
      const Bytes high = V::WidenHalves(codes + 4 * V::kRows, v);
      alignas(64) uint32_t index[4][V::kLanes];
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        constexpr int j = group.value;
        Base::template Indices<8 - 4 * j>(Base::IndexBytes(codes, j, v), high, 0x700, index[j]);
      });
      Unroll<4>([&](auto group) ADIT_INLINE_LAMBDA {
        Bytes pair[2];
        V::LookUpPair(kIQ1SGrid.entries, index[group.value], pair);
        const auto negative = V::template LanesWithBit<4 * group.value + 3>(high);
        for (int half = 0; half < 2; ++half) {
          const Bytes eighths = V::template ShiftAnd<3>(pair[half], 0x18);
          Base::PutCodes(out, 2 * group.value + half, v, V::AddOneOfTwo(eighths, 9, 7, negative));
        }
      });
    }
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_CODEC_GRID_H_
