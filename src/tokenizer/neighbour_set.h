#ifndef ADIT_TOKENIZER_NEIGHBOUR_SET_H_
#define ADIT_TOKENIZER_NEIGHBOUR_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace adit::tokenizer {

// A character as SentencePiece BPE cuts text: as many bytes as the first one announces, fewer at the end of the text.
// Packed into a number; broken characters may share one with others.
uint32_t PackChar(std::string_view bytes);

// Which pairs of characters stand side by side in some piece. Between two characters that do not, no merge can happen,
// so the text may be cut there.
class NeighbourSet {
 public:
  // All pairs within `piece`.
  void AddPiece(std::string_view piece);
  bool Contains(uint32_t left, uint32_t right) const;

 private:
  static constexpr uint32_t kNumAscii = 128;

  size_t FindSlot(uint64_t key) const;
  void Add(uint32_t left, uint32_t right);
  void Grow();

  std::array<bool, kNumAscii * kNumAscii> ascii_{};
  std::vector<uint64_t> slots_;  // open addressing, at most half full; 0: free
  size_t num_entries_ = 0;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_NEIGHBOUR_SET_H_
