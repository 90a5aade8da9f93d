#include "tokenizer/merge_table.h"

#include <algorithm>
#include <bit>

#include "tokenizer/hash_internal.h"

namespace adit::tokenizer {

MergeTable::MergeTable(size_t num_merges) : slots_(std::bit_ceil(2 * num_merges + 1)) {}

size_t MergeTable::FindSlot(int32_t left, int32_t right) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = MixBits(uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right)) & mask;
  while (slots_[slot].left >= 0 && (slots_[slot].left != left || slots_[slot].right != right)) slot = (slot + 1) & mask;
  return slot;
}

void MergeTable::Add(int32_t left, int32_t right, Merge merge) {
  Slot& slot = slots_[FindSlot(left, right)];
  if (slot.left < 0) slot = {left, right, merge};
}

bool MergeTable::Involves(int32_t id) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [id](const Slot& slot) { return slot.left >= 0 && (slot.left == id || slot.right == id); });
}

Merge MergeTable::Find(int32_t left, int32_t right) const {
  if (left < 0 || right < 0) return {};
  return slots_[FindSlot(left, right)].merge;
}

}  // namespace adit::tokenizer
