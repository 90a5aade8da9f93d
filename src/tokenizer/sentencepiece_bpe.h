#ifndef ADIT_TOKENIZER_SENTENCEPIECE_BPE_H_
#define ADIT_TOKENIZER_SENTENCEPIECE_BPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "tokenizer/merge.h"
#include "tokenizer/neighbour_set.h"
#include "tokenizer/vocabulary_tokenizer.h"

namespace adit::tokenizer {

// BPE as SentencePiece does it (Kudo and Richardson 2018): spaces become U+2581, the characters of the whole text are
// merged into pieces of the vocabulary, those with the highest score first, and a character that is no piece is spelled
// in byte tokens.
class SentencePieceBpe : public VocabularyTokenizer {
 public:
  // For model "llama"; reads `tokenizer.ggml.scores` and `.add_space_prefix` besides what VocabularyTokenizer needs.
  static Result<std::unique_ptr<Tokenizer>> Load(const formats::GgufMetadata& metadata);

  std::string Description() const override { return "llama"; }

 protected:
  void EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const override;

 private:
  // ranks: order of the scores, by id; 0 is the highest, equal scores share a rank.
  SentencePieceBpe(Parts parts, bool add_space_prefix, std::vector<uint32_t> ranks);

  // Whether plain text may become this token.
  bool IsTextual(int32_t id) const { return !vocabulary().IsHidden(id) && vocabulary().Type(id) != TokenType::kByte; }
  int32_t FindTextual(std::string_view text) const;
  // Encodes a stretch of a run that stands apart; `merger` holds its characters and is empty afterwards.
  void EncodeWord(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const;
  void EncodeBytes(std::string_view bytes, std::vector<int32_t>& ids) const;

  bool add_space_prefix_;
  std::vector<uint32_t> ranks_;
  size_t max_piece_bytes_ = 0;
  NeighbourSet neighbours_;
  std::array<int32_t, 256> byte_ids_;  // token of each byte; -1 where the vocabulary has none
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SENTENCEPIECE_BPE_H_
