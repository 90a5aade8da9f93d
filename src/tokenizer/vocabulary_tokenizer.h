#ifndef ADIT_TOKENIZER_VOCABULARY_TOKENIZER_H_
#define ADIT_TOKENIZER_VOCABULARY_TOKENIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf_metadata.h"
#include "tokenizer/special_matcher.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace adit::tokenizer {

// What tokenizers share: the vocabulary, special tokens and their search, decoding. An algorithm adds how a run of
// plain text is encoded.
class VocabularyTokenizer : public Tokenizer {
 public:
  // Declared, so that it is not hidden by the overload below.
  using Tokenizer::Encode;
  std::vector<int32_t> Encode(std::span<const TextSegment> segments, bool add_special) const override;
  std::string TokenBytes(int32_t id, bool with_special) const override;
  Result<std::string> Decode(std::span<const int32_t> ids, bool with_special) const override;

  int64_t vocab_size() const override { return vocabulary_.size(); }
  std::string_view Piece(int32_t id) const override { return vocabulary_.pieces[id]; }
  TokenType Type(int32_t id) const override { return vocabulary_.Type(id); }
  std::optional<int32_t> bos_id() const override { return special_.bos; }
  std::optional<int32_t> eos_id() const override { return special_.eos; }
  bool adds_bos() const override { return special_.add_bos; }
  bool adds_eos() const override { return special_.add_eos; }
  std::span<const int32_t> end_of_generation_ids() const override { return special_.end_of_generation; }

 protected:
  // bytes: what each token adds to a text, by id. strip_first_space: a decoded text loses the space that encoding put
  // before it.
  VocabularyTokenizer(Vocabulary vocabulary, SpecialTokens special, PieceTable bytes, bool strip_first_space);

  // Appends the ids of `text`, which is not empty and holds no special token. after_special: it stands at the beginning
  // or behind a special token; false where a run of more than 512 MiB is cut.
  virtual void EncodeRun(std::string_view text, bool after_special, std::vector<int32_t>& ids) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const SpecialTokens& special() const { return special_; }
  const PieceTable& bytes() const { return bytes_; }

 private:
  void EncodeLongRun(std::string_view text, std::vector<int32_t>& ids) const;

  Vocabulary vocabulary_;
  SpecialTokens special_;
  PieceTable bytes_;
  bool strip_first_space_;
  SpecialMatcher matcher_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_VOCABULARY_TOKENIZER_H_
