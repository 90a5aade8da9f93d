#ifndef ADIT_TOKENIZER_WORD_TABLE_H_
#define ADIT_TOKENIZER_WORD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tokenizer/hash_internal.h"
#include "tokenizer/piece_table.h"

namespace adit::tokenizer {

// From texts to token ids. Texts of up to 16 bytes, nearly all words, are held in the slots themselves, so that finding
// one touches one cache line. Open addressing with linear probing, at most half full.
class WordTable {
 public:
  static constexpr size_t kMaxShortBytes = 16;

  // Keeps what is there if the text is known. Precondition: text is not empty, id >= 0.
  void Add(std::string_view text, int32_t id);

  // The id of `text`, or -1.
  int32_t Find(std::string_view text) const {
    if (text.size() > kMaxShortBytes) return FindLong(text);
    if (slots_.empty() || text.empty()) return -1;
    return slots_[FindSlot(PackKey(text))].id;
  }

 private:
  // A short text as two words and its length, which tell it from every other.
  struct Key {
    uint64_t head = 0;
    uint64_t tail = 0;
    uint32_t length = 0;
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    int32_t id = -1;
  };

  template <typename Word>
  static uint64_t Load(const char* bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
  }
  static Key PackKey(std::string_view text) {
    const char* const data = text.data();
    const size_t n = text.size();
    const auto length = static_cast<uint32_t>(n);
    if (n >= 8) return {Load<uint64_t>(data), Load<uint64_t>(data + n - 8), length};
    if (n >= 4) return {Load<uint32_t>(data) | Load<uint32_t>(data + n - 4) << 32, 0, length};
    return {Load<uint8_t>(data) | Load<uint8_t>(data + n / 2) << 8 | Load<uint8_t>(data + n - 1) << 16, 0, length};
  }
  size_t FindSlot(const Key& key) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = MixBits(key.head ^ (key.tail * 0x9E3779B97F4A7C15u + key.length)) & mask;
    while (slots_[slot].id >= 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  int32_t FindLong(std::string_view text) const;
  void Grow();

  std::vector<Slot> slots_;
  size_t num_short_ = 0;
  PieceTable long_texts_;
  std::vector<int32_t> long_ids_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_WORD_TABLE_H_
