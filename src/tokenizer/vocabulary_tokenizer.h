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

#include "tokenizer/decode_table.h"
#include "tokenizer/special_matcher.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace adit::tokenizer {

// A part of the input within which control tokens count; neighbouring trusted segments are one.
struct TrustedRange {
  size_t begin;
  size_t end;
};

// Text between special tokens.
struct TextRun {
  std::string_view text;                  // not empty
  size_t begin = 0;                       // offset in the input
  bool after_special = true;              // false where a run of more than 512 MiB is cut
  std::span<const TrustedRange> trusted;  // all of the input's, in order
};

// What tokenizers share: the vocabulary, special tokens and their search, decoding. An algorithm adds how a run of
// plain text is encoded.
class VocabularyTokenizer : public Tokenizer {
 public:
  // What a tokenizer is made of besides its algorithm. `matcher` is built.
  struct Parts {
    Vocabulary vocabulary;
    SpecialTokens special;
    DecodeTable texts;
    SpecialMatcher matcher;
  };

  // Declared, so that it is not hidden by the overload below.
  using Tokenizer::Encode;
  std::vector<int32_t> Encode(std::span<const TextSegment> segments, bool add_special) const override;
  std::string TokenBytes(int32_t id, bool with_special) const override;
  Result<std::string> Decode(std::span<const int32_t> ids, bool with_special) const override;
  void DecodeNext(int32_t id, bool with_special, DecodeState& state, std::string& out) const override;
  void DecodeEnd(DecodeState& state, std::string& out) const override;

  int64_t vocab_size() const override { return vocabulary_.size(); }
  std::string_view Piece(int32_t id) const override { return vocabulary_.pieces[id]; }
  TokenType Type(int32_t id) const override { return vocabulary_.Type(id); }
  std::optional<int32_t> bos_id() const override { return special_.bos; }
  std::optional<int32_t> eos_id() const override { return special_.eos; }
  bool adds_bos() const override { return special_.add_bos(); }
  bool adds_eos() const override { return special_.add_eos(); }
  std::span<const int32_t> end_of_generation_ids() const override { return special_.end_of_generation; }

 protected:
  explicit VocabularyTokenizer(Parts parts);

  // Control and unknown tokens, which need trust, and user-defined ones.
  static SpecialMatcher MatcherByType(const Vocabulary& vocabulary);

  // Appends the ids of the tokens that `matcher` finds in `text`, and between them calls encode(begin, end) for what
  // lies between, also where that is empty.
  template <typename EncodeBetween>
  static void FindSpecials(const SpecialMatcher& matcher, std::string_view text, std::span<const TrustedRange> trusted,
                           const EncodeBetween& encode, std::vector<int32_t>& ids) {
    auto range = trusted.begin();
    size_t run_begin = 0;
    for (size_t pos = 0; pos < text.size();) {
      if (!matcher.CanStart(text[pos])) {
        ++pos;
        continue;
      }
      while (range != trusted.end() && range->end <= pos) ++range;
      const bool is_trusted = range != trusted.end() && range->begin <= pos;
      const auto match = matcher.MatchAt(text.substr(pos), is_trusted ? range->end - pos : 0);
      if (!match) {
        ++pos;
        continue;
      }
      const std::optional<TextRange> extent = SpecialMatcher::ExtentOf(*match, text, run_begin, pos);
      pos += match->length;
      if (!extent) continue;
      encode(run_begin, extent->begin);
      ids.push_back(match->id);
      run_begin = pos = extent->end;
    }
    encode(run_begin, text.size());
  }

  // Appends the ids of `run`, which holds no special token that `matcher` finds.
  virtual void EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const SpecialTokens& special() const { return special_; }

 private:
  void EncodeLongRun(TextRun run, std::vector<int32_t>& ids) const;

  Vocabulary vocabulary_;
  SpecialTokens special_;
  DecodeTable texts_;
  SpecialMatcher matcher_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_VOCABULARY_TOKENIZER_H_
