#ifndef ADIT_TOKENIZER_GGUF_WORD_PIECE_H_
#define ADIT_TOKENIZER_GGUF_WORD_PIECE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/vocabulary_tokenizer.h"
#include "tokenizer/word_piece_model.h"

namespace adit::tokenizer {

// BERT's tokenizer as GGUF files hold it: pieces that begin a word are written with U+2581 before them and others as
// they are, the other way round from BERT's own "##".
class GgufWordPiece : public VocabularyTokenizer {
 public:
  // For model "bert"; reads `tokenizer.ggml.normalizer.lowercase` and `.strip_accents` (default: true, both) and
  // `.seperator_token_id` (as the format spells it) besides what VocabularyTokenizer needs.
  static Result<std::unique_ptr<Tokenizer>> Load(const formats::GgufMetadata& metadata);

  std::string Description() const override { return "bert"; }

 protected:
  void EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const override;

 private:
  struct Options {
    bool lowercase = true;
    bool strip_accents = true;
  };
  GgufWordPiece(Parts parts, Options options, WordPieceModel model);

  Options options_;
  WordPieceModel model_;
  std::shared_ptr<const Normalizer> nfd_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_GGUF_WORD_PIECE_H_
