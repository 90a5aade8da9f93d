#ifndef ADIT_TOKENIZER_UNIGRAM_MODEL_H_
#define ADIT_TOKENIZER_UNIGRAM_MODEL_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/byte_trie.h"
#include "tokenizer/word_model.h"

namespace adit::tokenizer {

struct UnigramOptions {
  double unknown_score = 0;  // of a character without a token
  int32_t unknown = -1;      // its token; -1: it leaves nothing
  // Tokens of the bytes of unknown characters; -1 where there is none. Empty: not used.
  std::vector<int32_t> byte_fallback;
};

// The unigram language model (Kudo 2018): a word becomes the tokens whose scores have the highest sum, found by the
// algorithm of Viterbi from left to right. Of equal sums the one found first stays. Neighbouring unknown characters are
// one unknown token.
class UnigramModel : public WordModel {
 public:
  // tokens: those that text may become. scores: by token id.
  UnigramModel(std::span<const TextToken> tokens, std::vector<double> scores, UnigramOptions options);

  void Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const override;

 private:
  // The best way to a place in the word.
  struct Step {
    double score = 0;
    uint32_t length = 0;  // of the last token; 0: no way is known
    int32_t id = -1;      // kUnknown: an unknown character
  };
  static constexpr int32_t kUnknown = -2;
  struct Path {
    std::vector<Step> steps;  // by byte of the stretch in work
    std::vector<Step> taken;  // last to first
  };

  void EncodeWord(std::string_view word, Path& path, std::vector<int32_t>& ids) const;
  size_t Extend(std::string_view word, size_t begin, size_t pos, Path& path) const;
  void Emit(std::string_view stretch, Path& path, size_t& unknown_begin, size_t stretch_begin, std::string_view word,
            std::vector<int32_t>& ids) const;
  void EmitUnknown(std::string_view text, std::vector<int32_t>& ids) const;

  ByteTrie trie_;
  std::vector<double> scores_;
  UnigramOptions options_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_UNIGRAM_MODEL_H_
