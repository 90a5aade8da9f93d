#ifndef ADIT_TOKENIZER_BYTE_LEVEL_BPE_H_
#define ADIT_TOKENIZER_BYTE_LEVEL_BPE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "tokenizer/bpe_model.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/text_cutter.h"
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
  void EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const override;

 private:
  using Cutters = std::vector<std::unique_ptr<TextCutter>>;
  ByteLevelBpe(Parts parts, const PreTokenizer& pre_tokenizer, Cutters cutters, BpeModel model);

  const PreTokenizer& pre_tokenizer_;
  Cutters cutters_;  // of a pre-tokenizer without a splitter
  BpeModel model_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_BYTE_LEVEL_BPE_H_
