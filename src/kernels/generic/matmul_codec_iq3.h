#ifndef ADIT_KERNELS_GENERIC_MATMUL_CODEC_IQ3_H_
#define ADIT_KERNELS_GENERIC_MATMUL_CODEC_IQ3_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_codec.h"
#include "kernels/generic/unroll.h"
#include "tensor/iq3_s.h"
#include "tensor/iq_grids.h"

// The codec of IQ3_S: indices are looked up once, when packed, since one stands for four columns alone. The magnitudes
// are eight, so that a code with its sign takes four bits. A panel takes 134 bytes for 110 of the file.
namespace adit::kernels::generic {

inline constexpr int kIQ3SOffsetBits = 4;
struct IQ3STable {
  uint8_t codes[16];
};
// Bits 2..0 of a code are the number of the magnitude, 1, 3 .. 15, and bit 3 its sign.
consteval IQ3STable MakeIQ3STable() {
  IQ3STable table = {};
  for (int i = 0; i < 16; ++i) {
    const int magnitude = 2 * (i % 8) + 1;
    table.codes[i] = static_cast<uint8_t>((1 << kIQ3SOffsetBits) + (i < 8 ? magnitude : -magnitude));
  }
  return table;
}
inline constexpr IQ3STable kIQ3STable = MakeIQ3STable();

// A record is the factors of a block of the file, half-precision [kRows], and its scales as the file has them,
// [4][kRows].
template <class V>
struct Codec<DType::kIQ3_S, V> : CodecParts<V>, OrderByNibbles {
  using Block = BlockIQ3S;
  using Parts = CodecParts<V>;
  using typename Parts::Bytes;
  using typename Parts::F32;
  using Dot = typename V::template UnsignedDot<31>;
  static constexpr int kRecordBlocks = 8;
  static constexpr int kSubBlocks = 1;
  static constexpr int kOffsetBits = kIQ3SOffsetBits;
  static constexpr bool kHasMin = false;
  static constexpr int kCodeBytes = 4 * V::kQuadBytes;
  static constexpr int kRecordBytes = 6 * V::kRows;
  using Record = ScaleRecord<V>;

  static void Pack(const Block& block, std::byte* codes, std::byte* record, int row) {
    Parts::PutHalf(record, row, block.d);
    for (int i = 0; i < 4; ++i) record[(2 + i) * V::kRows + row] = static_cast<std::byte>(block.scales[i]);
    for (int b = 0; b < 8; ++b, codes += kCodeBytes) {
      for (int q = 0; q < 4; ++q) {
        Parts::PutQuad(codes, q, row, QuadCodes(block, 8 * b + q) | QuadCodes(block, 8 * b + q + 4) << 4);
      }
    }
  }
  template <int g>
  [[gnu::always_inline]] static Bytes Codes(const std::byte* codes, int v) {
    return V::Lookup(kIQ3STable.codes, Parts::template Nibbles<g>(codes, v));
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte* record) {
    Record r;
    Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA { r.scale[v.value] = Parts::LoadHalves(record, v.value); });
    return r;
  }
  [[gnu::always_inline]] static F32 Scale(const Record& r, const std::byte* record, int sub_block, int v) {
    const uint8_t* bytes = Parts::RowBytesAt(record, 2 + sub_block / 2, v);
    const F32 scale = sub_block % 2 == 0 ? V::template NibblesToFloat<0>(bytes) : V::template NibblesToFloat<4>(bytes);
    return F32::Mul(r.scale[v], F32::Fma(scale, F32::Broadcast(2.0f), F32::Broadcast(1.0f)));
  }

 private:
  // Four codes, a byte each, of the columns that index `quad` of the block stands for.
  static uint32_t QuadCodes(const Block& block, int quad) {
    const uint32_t index = block.qs[quad] | (uint32_t{block.qh[quad / 8]} >> (quad % 8) & 1) << 8;
    const uint32_t numbers = kIQ3SGrid.entries[index] >> 1 & 0x07070707u;
    // The factor puts four copies of the signs 7 places apart, so that sign j comes to bit 8j.
    const uint32_t signs = uint32_t{block.signs[quad / 2]} >> (quad % 2 * 4) & 15;
    return numbers | (signs * 0x00204081u & 0x01010101u) << 3;
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_CODEC_IQ3_H_
