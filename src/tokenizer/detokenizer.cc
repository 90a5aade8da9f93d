#include "tokenizer/detokenizer.h"

#include <span>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace adit::tokenizer {

IncrementalDetokenizer::IncrementalDetokenizer(const Tokenizer& tokenizer, bool with_special)
    : tokenizer_(tokenizer), with_special_(with_special) {}

std::string IncrementalDetokenizer::Append(int32_t id) {
  std::string bytes = tokenizer_.TokenBytes(id, with_special_);
  if (bytes.empty()) return bytes;
  if (at_start_) {
    // The first text of a sequence is the one place where Decode differs from the sum of its tokens.
    Result<std::string> first = tokenizer_.Decode(std::span(&id, 1), with_special_);
    ADIT_CHECK(first.ok());
    bytes = std::move(first).value();
    at_start_ = false;
  }
  pending_ += bytes;
  const size_t num_complete = pending_.size() - IncompleteUtf8Suffix(pending_);
  std::string text = ReplaceInvalidUtf8(std::string_view(pending_).substr(0, num_complete));
  pending_.erase(0, num_complete);
  return text;
}

std::string IncrementalDetokenizer::Finish() {
  const std::string rest = std::exchange(pending_, std::string());
  return ReplaceInvalidUtf8(rest);
}

}  // namespace adit::tokenizer
