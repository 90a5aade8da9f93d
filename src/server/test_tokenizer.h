#ifndef ADIT_SERVER_TEST_TOKENIZER_H_
#define ADIT_SERVER_TEST_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace adit::server {

inline constexpr int32_t kBos = 256;
inline constexpr int32_t kEos = 257;
inline constexpr const char* kControlTokens[] = {"<s>", "</s>", "<|start|>", "<|end|>"};  // ids from 256 on

// Ids are bytes; control tokens are found in trusted segments.
class ByteTokenizer : public tokenizer::Tokenizer {
 public:
  ByteTokenizer(bool adds_bos, bool adds_eos) : adds_bos_(adds_bos), adds_eos_(adds_eos) {}

  std::vector<int32_t> Encode(std::span<const tokenizer::TextSegment> segments, bool add_special) const override {
    std::vector<int32_t> ids;
    if (add_special && adds_bos_) ids.push_back(kBos);
    for (const tokenizer::TextSegment& segment : segments) {
      std::string_view text = segment.text;
      while (!text.empty()) {
        const int32_t control = segment.trusted ? ControlAt(text) : -1;
        ids.push_back(control >= 0 ? control : static_cast<unsigned char>(text[0]));
        text.remove_prefix(control >= 0 ? std::string_view(kControlTokens[control - kBos]).size() : 1);
      }
    }
    if (add_special && adds_eos_) ids.push_back(kEos);
    return ids;
  }
  std::string TokenBytes(int32_t id, bool with_special) const override {
    if (id < kBos) return std::string(1, static_cast<char>(id));
    return with_special ? kControlTokens[id - kBos] : "";
  }
  Result<std::string> Decode(std::span<const int32_t> ids, bool with_special) const override {
    std::string text;
    for (const int32_t id : ids) text += TokenBytes(id, with_special);
    return text;
  }
  int64_t vocab_size() const override { return kBos + 4; }
  std::string_view Piece(int32_t) const override { return ""; }
  tokenizer::TokenType Type(int32_t id) const override {
    return id < kBos ? tokenizer::TokenType::kNormal : tokenizer::TokenType::kControl;
  }
  std::optional<int32_t> bos_id() const override { return kBos; }
  std::optional<int32_t> eos_id() const override { return kEos; }
  bool adds_bos() const override { return adds_bos_; }
  bool adds_eos() const override { return adds_eos_; }
  std::span<const int32_t> end_of_generation_ids() const override { return {}; }
  std::string Description() const override { return "bytes"; }

 private:
  static int32_t ControlAt(std::string_view text) {
    for (int32_t i = 0; i < 4; ++i) {
      if (text.starts_with(kControlTokens[i])) return kBos + i;
    }
    return -1;
  }

  bool adds_bos_;
  bool adds_eos_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_TEST_TOKENIZER_H_
