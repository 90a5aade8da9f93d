#ifndef ADIT_KERNELS_GENERIC_MATMUL_PANEL_H_
#define ADIT_KERNELS_GENERIC_MATMUL_PANEL_H_

#include <cstddef>
#include <cstdint>

namespace adit::kernels::generic {

// Where the blocks of 32 columns of a panel lie: codec W (generic/matmul_codec.h) on vectors V. A panel is a row of
// units, each of them the records of kRecords records and then their codes, so that a product of few tokens reads one
// stream from its first byte to its last: one Zen 5 core reads memory at 33 GB/s so, and at 19 with the records of a
// panel behind all its codes (no prefetch by software; 40 and 34 with). kRecords is the least for which codes begin at
// a whole vector. A unit at the end may have fewer records: its codes begin where they otherwise would.
template <class V, class W>
struct Panel {
  static constexpr int64_t kRecords = [] {
    int records = 1;
    while (records * W::kRecordBytes % (V::kLanes * 4) != 0) records *= 2;
    return records;
  }();
  static constexpr int64_t kBlocks = kRecords * W::kRecordBlocks;
  static constexpr int64_t kCodesAt = kRecords * W::kRecordBytes;
  static constexpr int64_t kUnitBytes = kCodesAt + kBlocks * W::kCodeBytes;

  // Of num_blocks blocks, a multiple of W::kRecordBlocks.
  static constexpr int64_t Bytes(int64_t num_blocks) {
    const int64_t rest = num_blocks % kBlocks;
    return num_blocks / kBlocks * kUnitBytes + (rest == 0 ? 0 : kCodesAt + rest * W::kCodeBytes);
  }
  // The record and the codes of a block, from the start of a unit on.
  template <class Byte>
  [[gnu::always_inline]] static constexpr Byte* Record(Byte* units, int64_t block) {
    return units + block / kBlocks * kUnitBytes + block % kBlocks / W::kRecordBlocks * W::kRecordBytes;
  }
  template <class Byte>
  [[gnu::always_inline]] static constexpr Byte* Codes(Byte* units, int64_t block) {
    return units + block / kBlocks * kUnitBytes + kCodesAt + block % kBlocks * W::kCodeBytes;
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_PANEL_H_
