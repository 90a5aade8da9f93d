#ifndef ADIT_TOKENIZER_BPE_MODEL_H_
#define ADIT_TOKENIZER_BPE_MODEL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/merge.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/neighbour_set.h"
#include "tokenizer/text_tokens.h"
#include "tokenizer/word_model.h"
#include "tokenizer/word_table.h"

namespace adit::tokenizer {

struct BpeOptions {
  bool bytes = false;             // symbols are bytes and tokens' texts are bytes; else symbols are characters
  bool whole_words = false;       // a word that is a token is taken as that token, whatever the merges say
  bool fuse_unknown = false;      // neighbouring characters without a token are one unknown token
  int32_t unknown = -1;           // token of a character without one; -1: such characters leave nothing
  std::string continuing_prefix;  // before the text of each symbol but the first of a word
  std::string end_suffix;         // behind that of the last
  // Tokens of the bytes of a character without a token of its own; -1 where there is none. Empty: not used.
  std::vector<int32_t> byte_fallback;
};

// Byte-pair encoding with ranked merges (Sennrich et al. 2016), of bytes as in GPT-2 or of characters.
class BpeModel : public WordModel {
 public:
  // tokens: those that text may become, no two texts equal. merges: of the ids of symbols.
  BpeModel(std::span<const TextToken> tokens, MergeTable merges, BpeOptions options);

  void Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const override;

 private:
  void EncodeWord(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const;
  void EncodeBytes(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const;
  void EncodeCharacters(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const;
  void Merge(Merger& merger) const;
  int32_t SymbolId(std::string_view character, bool first, bool last) const;
  void AddSymbols(std::string_view character, uint32_t begin, bool first, bool last, Merger& merger) const;
  bool MayStartPart(std::string_view character) const;
  bool IsSpelled(std::string_view character) const;
  void AddUnknown(uint32_t begin, uint32_t length, Merger& merger) const;
  void IndexWords(std::span<const TextToken> tokens);

  MergeTable merges_;
  BpeOptions options_;
  bool plain_symbols_;                 // neither prefix nor suffix
  std::array<int32_t, 256> byte_ids_;  // bytes: token of each; characters: of the ASCII ones
  WordTable symbols_;                  // characters: tokens that are symbols before any merge
  WordTable words_;                    // texts that are one token in the end
  NeighbourSet neighbours_;            // characters: pairs that some token holds side by side
  bool cuts_ = false;                  // whether neighbours_ may cut words
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_BPE_MODEL_H_
