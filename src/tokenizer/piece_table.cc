#include "tokenizer/piece_table.h"

#include "tokenizer/hash_internal.h"

namespace adit::tokenizer {
namespace {

constexpr size_t kMinSlots = 16;

uint32_t Tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

}  // namespace

void PieceTable::Add(std::string_view piece) {
  bytes_.append(piece);
  offsets_.push_back(bytes_.size());
}

size_t PieceTable::FindSlot(std::string_view piece, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].id >= 0 && (slots_[slot].tag != Tag(hash) || (*this)[slots_[slot].id] != piece)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void PieceTable::Grow() {
  std::vector<Slot> old(slots_.empty() ? kMinSlots : 2 * slots_.size());
  old.swap(slots_);
  for (const Slot& entry : old) {
    if (entry.id < 0) continue;
    const std::string_view piece = (*this)[entry.id];
    slots_[FindSlot(piece, HashBytes(piece))] = entry;
  }
}

int32_t PieceTable::Index(int32_t id) {
  if (2 * (num_indexed_ + 1) > slots_.size()) Grow();
  const std::string_view piece = (*this)[id];
  const uint64_t hash = HashBytes(piece);
  Slot& slot = slots_[FindSlot(piece, hash)];
  if (slot.id >= 0) return slot.id;
  slot = {Tag(hash), id};
  ++num_indexed_;
  return -1;
}

int32_t PieceTable::Find(std::string_view piece) const {
  if (slots_.empty()) return -1;
  return slots_[FindSlot(piece, HashBytes(piece))].id;
}

}  // namespace adit::tokenizer
