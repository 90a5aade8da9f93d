#include "tokenizer/neighbour_set.h"

#include "tokenizer/hash_internal.h"
#include "tokenizer/lenient_utf8.h"

namespace adit::tokenizer {
namespace {

constexpr size_t kMinNeighbourSlots = 64;

uint64_t Key(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

}  // namespace

uint32_t PackChar(std::string_view bytes) {
  uint32_t packed = 0;
  for (const char byte : bytes) packed = packed << 8 | static_cast<unsigned char>(byte);
  return packed;
}

void NeighbourSet::AddPiece(std::string_view piece) {
  uint32_t previous = 0;
  for (size_t pos = 0; pos < piece.size();) {
    const std::string_view bytes = piece.substr(pos, CharLength(piece[pos]));
    const uint32_t c = PackChar(bytes);
    if (pos > 0) Add(previous, c);
    previous = c;
    pos += bytes.size();
  }
}

bool NeighbourSet::Contains(uint32_t left, uint32_t right) const {
  if (left < kNumAscii && right < kNumAscii) return ascii_[left * kNumAscii + right];
  return !slots_.empty() && slots_[FindSlot(Key(left, right))] != 0;
}

size_t NeighbourSet::FindSlot(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = MixBits(key) & mask;
  while (slots_[slot] != 0 && slots_[slot] != key) slot = (slot + 1) & mask;
  return slot;
}

void NeighbourSet::Grow() {
  std::vector<uint64_t> old(slots_.empty() ? kMinNeighbourSlots : 2 * slots_.size());
  old.swap(slots_);
  for (const uint64_t key : old) {
    if (key != 0) slots_[FindSlot(key)] = key;
  }
}

void NeighbourSet::Add(uint32_t left, uint32_t right) {
  if (left < kNumAscii && right < kNumAscii) {
    ascii_[left * kNumAscii + right] = true;
    return;
  }
  if (2 * (num_entries_ + 1) > slots_.size()) Grow();
  uint64_t& slot = slots_[FindSlot(Key(left, right))];
  if (slot == 0) ++num_entries_;
  slot = Key(left, right);
}

}  // namespace adit::tokenizer
