#include "engine/text_stream.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace adit::engine {

TextStream::TextStream(const tokenizer::Tokenizer& tokenizer, TextStreamOptions options)
    : detokenizer_(tokenizer, options.with_special), min_tokens_(options.min_tokens) {
  patterns_.reserve(options.stops.size());
  for (std::string& text : options.stops) patterns_.push_back(MakePattern(std::move(text)));
}

TextStream::Pattern TextStream::MakePattern(std::string text) {
  ADIT_CHECK(!text.empty());
  Pattern pattern{.text = std::move(text)};
  pattern.border.resize(pattern.text.size());
  for (size_t i = 1; i < pattern.text.size(); ++i) {
    size_t length = pattern.border[i - 1];
    while (length > 0 && pattern.text[i] != pattern.text[length]) length = pattern.border[length - 1];
    pattern.border[i] = length + (pattern.text[i] == pattern.text[length] ? 1 : 0);
  }
  return pattern;
}

// Never called once the pattern has been found, so `matched` is below its length.
void TextStream::Advance(Pattern& pattern, char byte) {
  while (pattern.matched > 0 && pattern.text[pattern.matched] != byte) {
    pattern.matched = pattern.border[pattern.matched - 1];
  }
  if (pattern.text[pattern.matched] == byte) ++pattern.matched;
}

std::string TextStream::Append(int32_t token) {
  if (stop_) return std::string();
  const std::string text = detokenizer_.Append(token);
  if (num_tokens_++ < min_tokens_) {
    num_given_ += text.size();
    return text;
  }
  return Take(text);
}

std::string TextStream::Finish() {
  if (stop_) return std::string();
  std::string text = Take(detokenizer_.Finish());
  num_given_ += held_.size();
  return text + std::exchange(held_, std::string());
}

std::string TextStream::Take(std::string_view text) {
  for (const char byte : text) {
    held_ += byte;
    for (size_t i = 0; i < patterns_.size(); ++i) {
      Pattern& pattern = patterns_[i];
      Advance(pattern, byte);
      const bool complete = pattern.matched == pattern.text.size();
      if (complete && (!stop_ || pattern.text.size() > patterns_[*stop_].text.size())) stop_ = i;
    }
    if (stop_) break;
  }
  size_t num_held = 0;
  for (const Pattern& pattern : patterns_) num_held = std::max(num_held, pattern.matched);
  // A stop string is the longest that is matched, or part of one that would have been longer still.
  if (stop_) num_held = patterns_[*stop_].text.size();
  std::string given = held_.substr(0, held_.size() - num_held);
  held_.erase(0, given.size());
  if (stop_) held_.clear();
  num_given_ += given.size();
  return given;
}

}  // namespace adit::engine
