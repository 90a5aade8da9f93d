#include "tensor/iq_grids.h"

#include <cstddef>

#include "tensor/data/iq_grid_words.h"

namespace adit {
namespace {

// Puts the value that each number of a word, kBits wide, stands for in a byte.
template <class Entry, int kBits, int kCount, size_t kValues>
constexpr IqGrid<Entry, kCount> Expand(const uint16_t (&words)[kCount], const uint8_t (&values)[kValues]) {
  IqGrid<Entry, kCount> grid = {};
  for (int i = 0; i < kCount; ++i) {
    for (size_t j = 0; j < sizeof(Entry); ++j) {
      const uint8_t value = values[words[i] >> (kBits * j) & ((1u << kBits) - 1)];
      grid.entries[i] |= static_cast<Entry>(Entry{value} << (8 * j));
    }
  }
  return grid;
}

constexpr uint8_t kIQ1Values[] = {0, 1, 2};
constexpr uint8_t kIQ2Values[] = {8, 25, 43};
constexpr uint8_t kIQ3XXSValues[] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr uint8_t kIQ3SValues[] = {1, 3, 5, 7, 9, 11, 13, 15};

}  // namespace

constinit const IqGrid<uint64_t, 256> kIQ2XXSGrid = Expand<uint64_t, 2>(kIQ2XXSWords, kIQ2Values);
constinit const IqGrid<uint64_t, 512> kIQ2XSGrid = Expand<uint64_t, 2>(kIQ2XSWords, kIQ2Values);
constinit const IqGrid<uint64_t, 1024> kIQ2SGrid = Expand<uint64_t, 2>(kIQ2SWords, kIQ2Values);
constinit const IqGrid<uint32_t, 256> kIQ3XXSGrid = Expand<uint32_t, 4>(kIQ3XXSWords, kIQ3XXSValues);
constinit const IqGrid<uint32_t, 512> kIQ3SGrid = Expand<uint32_t, 4>(kIQ3SWords, kIQ3SValues);
constinit const IqGrid<uint64_t, 2048> kIQ1SGrid = Expand<uint64_t, 2>(kIQ1SWords, kIQ1Values);

}  // namespace adit
