#include "engine/answer_grammar.h"

#include <algorithm>

#include "base/error.h"

namespace adit::engine {

AnswerGrammar::AnswerGrammar(const Grammar& grammar, std::span<const int32_t> end_tokens)
    : end_tokens_(end_tokens),
      matcher_(grammar.NewMatcher()),
      mask_(grammar::MaskWords(grammar.vocab_size())),
      text_mask_(mask_.size()) {}

Status AnswerGrammar::Fill() {
  ADIT_ASSIGN_OR_RETURN(const bool masks, matcher_->FillMask(mask_));
  state_ = masks ? State::kMasked : State::kAll;
  if (!masks) std::fill(mask_.begin(), mask_.end(), ~uint32_t{0});
  std::copy(mask_.begin(), mask_.end(), text_mask_.begin());
  for (const int32_t token : end_tokens_) {
    text_mask_[static_cast<size_t>(token) / 32] &= ~(uint32_t{1} << (static_cast<uint32_t>(token) % 32));
  }
  return Status();
}

bool AnswerGrammar::AllowsText() const {
  return std::any_of(text_mask_.begin(), text_mask_.end(), [](uint32_t word) { return word != 0; });
}

Result<std::span<const uint32_t>> AnswerGrammar::Mask(bool may_end) {
  if (state_ == State::kUnknown) ADIT_RETURN_IF_ERROR(Fill());
  if (!may_end) return std::span<const uint32_t>(text_mask_);
  return state_ == State::kAll ? std::span<const uint32_t>() : std::span<const uint32_t>(mask_);
}

Result<bool> AnswerGrammar::Accept(int32_t token) {
  ADIT_ASSIGN_OR_RETURN(const bool allowed, matcher_->Accept(token));
  if (!allowed) return Internal("grammar: token {} was chosen and is not allowed", token);
  // One that ends the generation is the last.
  if (std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end()) return true;
  ADIT_RETURN_IF_ERROR(Fill());
  return matcher_->complete() && !AllowsText();
}

}  // namespace adit::engine
