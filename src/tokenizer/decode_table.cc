#include "tokenizer/decode_table.h"

#include <utility>

#include "base/check.h"

namespace adit::tokenizer {

DecodeTable::DecodeTable(PieceTable bytes, PieceTable first, PieceTable last, EndStrip strip)
    : bytes_(std::move(bytes)), first_(std::move(first)), last_(std::move(last)), strip_(std::move(strip)) {
  ADIT_DCHECK(first_.size() == 0 || first_.size() == bytes_.size());
  ADIT_DCHECK(last_.size() == 0 || last_.size() == bytes_.size());
  if (strip_.text.empty()) strip_.front = strip_.back = 0;
}

void DecodeTable::Next(int32_t id, DecodeState& state, std::string& out) const {
  if (state.last_id >= 0) Append(bytes_[state.last_id], state, out);
  state.last_id = -1;
  if (!state.started) {
    const std::string_view first = FirstBytes(id);
    if (first.empty() && bytes_[id].empty()) return;
    state.started = true;
    // As the first of several a token is not yet the last; what differs at the end waits for End.
    if (last_.size() == 0 || first_.size() > 0) return Append(first, state, out);
  }
  if (last_.size() > 0) {
    state.last_id = id;
  } else {
    Append(bytes_[id], state, out);
  }
}

void DecodeTable::End(DecodeState& state, std::string& out) const {
  if (state.last_id >= 0) Append(last_[state.last_id], state, out);
  state.last_id = -1;
  if (strip_.back == 0) return;
  for (int32_t i = 0; i < strip_.back && state.held.ends_with(strip_.text); ++i) {
    state.held.resize(state.held.size() - strip_.text.size());
  }
  out.append(state.held);
  state.held.clear();
}

void DecodeTable::Append(std::string_view text, DecodeState& state, std::string& out) const {
  if (strip_.front > 0 && !state.front_kept) text = StripFront(text, state);
  if (strip_.back == 0) {
    out.append(text);
    return;
  }
  state.held.append(text);
  size_t keep = 0;  // bytes at the end of held that may still go
  const std::string_view held = state.held;
  for (int32_t i = 0; i < strip_.back && held.substr(0, held.size() - keep).ends_with(strip_.text); ++i) {
    keep += strip_.text.size();
  }
  out.append(held.substr(0, held.size() - keep));
  state.held.erase(0, held.size() - keep);
}

std::string_view DecodeTable::StripFront(std::string_view text, DecodeState& state) const {
  while (state.num_stripped < strip_.front && text.starts_with(strip_.text)) {
    text.remove_prefix(strip_.text.size());
    ++state.num_stripped;
  }
  if (!text.empty() || state.num_stripped == strip_.front) state.front_kept = true;
  return text;
}

}  // namespace adit::tokenizer
