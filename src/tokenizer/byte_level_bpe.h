#ifndef ADIT_TOKENIZER_BYTE_LEVEL_BPE_H_
#define ADIT_TOKENIZER_BYTE_LEVEL_BPE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/vocabulary_tokenizer.h"

namespace adit::tokenizer {

// Byte-level BPE with ranked merges, as GPT-2 introduced it: the text is cut into words, each word's bytes become
// tokens, and these are merged.
class ByteLevelBpe : public VocabularyTokenizer {
 public:
  // For model "gpt2"; reads `tokenizer.ggml.pre` and `.merges` besides what VocabularyTokenizer needs.
  static Result<std::unique_ptr<Tokenizer>> Load(const formats::GgufMetadata& metadata);

  std::string Description() const override;

 protected:
  void EncodeRun(std::string_view text, bool after_special, std::vector<int32_t>& ids) const override;

 private:
  ByteLevelBpe(Vocabulary vocabulary, SpecialTokens special, PieceTable bytes, const PreTokenizer& pre_tokenizer,
               MergeTable merges);

  void EncodeWord(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const;

  const PreTokenizer& pre_tokenizer_;
  MergeTable merges_;
  std::array<int32_t, 256> byte_ids_;  // token of each byte; -1 where the vocabulary has none
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_BYTE_LEVEL_BPE_H_
