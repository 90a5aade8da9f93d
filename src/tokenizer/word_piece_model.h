#ifndef ADIT_TOKENIZER_WORD_PIECE_MODEL_H_
#define ADIT_TOKENIZER_WORD_PIECE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/byte_trie.h"
#include "tokenizer/word_model.h"
#include "tokenizer/word_table.h"

namespace adit::tokenizer {

struct WordPieceOptions {
  int32_t unknown = -1;              // token of a word that cannot be spelled; -1: it leaves nothing
  std::string continuing_prefix;     // before the text of a token that does not begin its word
  size_t max_word_chars = SIZE_MAX;  // longer words are unknown
};

// WordPiece as BERT uses it (Wu et al. 2016): the longest token that starts the word, then the longest that goes on
// from there, to the end; if there is none somewhere, the whole word is unknown.
class WordPieceModel : public WordModel {
 public:
  // tokens: those that text may become, with the prefix of those that continue a word.
  WordPieceModel(std::span<const TextToken> tokens, WordPieceOptions options);

  void Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const override;

 private:
  bool Spell(std::string_view word, std::vector<int32_t>& ids) const;

  ByteTrie trie_;
  WordPieceOptions options_;
  uint32_t continuing_node_ = 0;  // of the trie, behind the prefix
  bool has_continuing_ = true;    // whether any token has the prefix
};

// A word is one token or unknown.
class WordLevelModel : public WordModel {
 public:
  WordLevelModel(std::span<const TextToken> tokens, int32_t unknown);

  void Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const override;

 private:
  WordTable words_;
  int32_t unknown_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_WORD_PIECE_MODEL_H_
