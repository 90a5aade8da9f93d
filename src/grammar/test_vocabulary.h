#ifndef ADIT_GRAMMAR_TEST_VOCABULARY_H_
#define ADIT_GRAMMAR_TEST_VOCABULARY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace adit::grammar {

// Every byte is a token, then come longer ones, then "<end>", which ends a generation, and "[TOOL_CALLS]", a mark.
class TestVocabulary : public tokenizer::Tokenizer {
 public:
  explicit TestVocabulary(std::vector<std::string> longer = {}) {
    for (int byte = 0; byte < 256; ++byte) texts_.emplace_back(1, static_cast<char>(byte));
    for (std::string& text : longer) texts_.push_back(std::move(text));
    end_ = static_cast<int32_t>(texts_.size());
    texts_.emplace_back("<end>");
    texts_.emplace_back("[TOOL_CALLS]");
  }

  int32_t end() const { return end_; }
  int32_t mark() const { return end_ + 1; }

  std::vector<int32_t> Encode(std::span<const tokenizer::TextSegment> segments, bool) const override {
    std::vector<int32_t> ids;
    for (const auto& segment : segments) {
      for (const char byte : segment.text) ids.push_back(static_cast<unsigned char>(byte));
    }
    return ids;
  }
  std::string TokenBytes(int32_t id, bool with_special) const override {
    return id >= end_ && !with_special ? std::string() : texts_[static_cast<size_t>(id)];
  }
  Result<std::string> Decode(std::span<const int32_t> ids, bool with_special) const override {
    std::string text;
    for (const int32_t id : ids) text += TokenBytes(id, with_special);
    return text;
  }
  int64_t vocab_size() const override { return static_cast<int64_t>(texts_.size()); }
  std::string_view Piece(int32_t id) const override { return texts_[static_cast<size_t>(id)]; }
  tokenizer::TokenType Type(int32_t id) const override {
    return id >= end_ ? tokenizer::TokenType::kControl : tokenizer::TokenType::kNormal;
  }
  std::optional<int32_t> bos_id() const override { return std::nullopt; }
  std::optional<int32_t> eos_id() const override { return end_; }
  bool adds_bos() const override { return false; }
  bool adds_eos() const override { return false; }
  std::span<const int32_t> end_of_generation_ids() const override { return std::span(&end_, 1); }
  std::string Description() const override { return "bytes"; }

 private:
  std::vector<std::string> texts_;
  int32_t end_ = 0;
};

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_TEST_VOCABULARY_H_
