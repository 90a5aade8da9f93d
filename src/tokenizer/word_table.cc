#include "tokenizer/word_table.h"

#include "base/check.h"

namespace adit::tokenizer {
namespace {

constexpr size_t kMinWordSlots = 64;

}  // namespace

void WordTable::Add(std::string_view text, int32_t id) {
  ADIT_DCHECK(!text.empty() && id >= 0);
  if (text.size() > kMaxShortBytes) {
    const auto index = static_cast<int32_t>(long_texts_.size());
    long_texts_.Add(text);
    long_texts_.Index(index);
    long_ids_.push_back(id);
    return;
  }
  if (2 * (num_short_ + 1) > slots_.size()) Grow();
  const Key key = PackKey(text);
  Slot& slot = slots_[FindSlot(key)];
  if (slot.id >= 0) return;
  slot = {key, id};
  ++num_short_;
}

int32_t WordTable::FindLong(std::string_view text) const {
  const int32_t index = long_texts_.Find(text);
  return index < 0 ? -1 : long_ids_[static_cast<size_t>(index)];
}

void WordTable::Grow() {
  std::vector<Slot> old(slots_.empty() ? kMinWordSlots : 2 * slots_.size());
  old.swap(slots_);
  for (const Slot& entry : old) {
    if (entry.id >= 0) slots_[FindSlot(entry.key)] = entry;
  }
}

}  // namespace adit::tokenizer
