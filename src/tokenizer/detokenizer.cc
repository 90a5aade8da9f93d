#include "tokenizer/detokenizer.h"

#include <utility>

#include "base/utf8.h"

namespace adit::tokenizer {

IncrementalDetokenizer::IncrementalDetokenizer(const Tokenizer& tokenizer, bool with_special)
    : tokenizer_(tokenizer), with_special_(with_special) {}

std::string IncrementalDetokenizer::Append(int32_t id) {
  tokenizer_.DecodeNext(id, with_special_, state_, pending_);
  const size_t num_complete = pending_.size() - IncompleteUtf8Suffix(pending_);
  std::string text = ReplaceInvalidUtf8(std::string_view(pending_).substr(0, num_complete));
  pending_.erase(0, num_complete);
  return text;
}

std::string IncrementalDetokenizer::Finish() {
  tokenizer_.DecodeEnd(state_, pending_);
  state_ = DecodeState();
  const std::string rest = std::exchange(pending_, std::string());
  return ReplaceInvalidUtf8(rest);
}

}  // namespace adit::tokenizer
