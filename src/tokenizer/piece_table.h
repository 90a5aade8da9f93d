#ifndef ADIT_TOKENIZER_PIECE_TABLE_H_
#define ADIT_TOKENIZER_PIECE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adit::tokenizer {

// Strings numbered from 0, and an index from string to number over those that were put into it. All strings lie in one
// buffer. Invariants: offsets_ ascends, offsets_[i] to offsets_[i + 1] is string i; slots_ is an open-addressed table
// with linear probing whose size is a power of two and at least twice its entries.
class PieceTable {
 public:
  PieceTable() : offsets_(1, 0) {}

  // Appends `piece`; its number is size() before the call. It is not yet in the index.
  void Add(std::string_view piece);
  int64_t size() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  // Precondition: 0 <= id < size(). Valid until the next Add.
  std::string_view operator[](int32_t id) const {
    const size_t begin = offsets_[static_cast<size_t>(id)];
    return std::string_view(bytes_).substr(begin, offsets_[static_cast<size_t>(id) + 1] - begin);
  }

  // Puts string `id` into the index. If an equal one is there, returns that one's number and changes nothing; else -1.
  int32_t Index(int32_t id);
  // Number of the indexed string equal to `piece`, or -1.
  int32_t Find(std::string_view piece) const;

 private:
  struct Slot {
    uint32_t tag = 0;  // upper half of the hash
    int32_t id = -1;
  };

  // The slot that holds `piece`, or the free one where it belongs.
  size_t FindSlot(std::string_view piece, uint64_t hash) const;
  void Grow();

  std::string bytes_;
  std::vector<size_t> offsets_;
  std::vector<Slot> slots_;
  size_t num_indexed_ = 0;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_PIECE_TABLE_H_
