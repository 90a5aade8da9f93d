#ifndef ADIT_TENSOR_IQ_GRIDS_H_
#define ADIT_TENSOR_IQ_GRIDS_H_

#include <cstdint>

namespace adit {

// The grids of the IQ types as bytes, the first of the elements that an index stands for in the lowest byte. IQ2 and
// IQ3: magnitudes. IQ1: one more than the value, which is -1, 0 or 1. Defined by ggml; the words that they are made
// from are in data/iq_grid_words.h.
template <class Entry, int kCount>
struct IqGrid {
  Entry entries[kCount];
};
extern const IqGrid<uint64_t, 256> kIQ2XXSGrid;
extern const IqGrid<uint64_t, 512> kIQ2XSGrid;
extern const IqGrid<uint64_t, 1024> kIQ2SGrid;
extern const IqGrid<uint32_t, 256> kIQ3XXSGrid;
extern const IqGrid<uint32_t, 512> kIQ3SGrid;
extern const IqGrid<uint64_t, 2048> kIQ1SGrid;

// The signs of eight elements, bit i set where element i is negative, from seven bits: their number is even.
constexpr uint8_t EvenSigns(uint32_t seven_bits) {
  uint32_t parity = seven_bits ^ (seven_bits >> 4);
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return static_cast<uint8_t>(seven_bits | (parity & 1) << 7);
}

}  // namespace adit

#endif  // ADIT_TENSOR_IQ_GRIDS_H_
