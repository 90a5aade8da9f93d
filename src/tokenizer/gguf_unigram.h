#ifndef ADIT_TOKENIZER_GGUF_UNIGRAM_H_
#define ADIT_TOKENIZER_GGUF_UNIGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/unigram_model.h"
#include "tokenizer/vocabulary_tokenizer.h"

namespace adit::tokenizer {

// The unigram model of SentencePiece as GGUF files hold it. The text is normalised by the model's own rules, spaces
// become U+2581, and all of it is one word.
class GgufUnigram : public VocabularyTokenizer {
 public:
  // For model "t5"; reads `tokenizer.ggml.scores`, `.precompiled_charsmap`, `.add_space_prefix`,
  // `.remove_extra_whitespaces`, `.escape_whitespaces` and `.treat_whitespace_as_suffix` besides what
  // VocabularyTokenizer needs.
  static Result<std::unique_ptr<Tokenizer>> Load(const formats::GgufMetadata& metadata);

  std::string Description() const override { return "t5"; }

 protected:
  void EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const override;

 private:
  struct Options {
    std::optional<Charsmap> charsmap;
    bool add_space_prefix = false;
    bool merge_spaces = false;     // rows of spaces become one, those at the ends none
    bool escape_spaces = true;     // spaces become marks
    bool space_as_suffix = false;  // the mark stands behind a word
  };
  static Result<Options> LoadOptions(const formats::GgufMetadata& metadata);
  GgufUnigram(Parts parts, Options options, UnigramModel model);

  std::string Normalized(std::string_view text) const;

  Options options_;
  UnigramModel model_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_GGUF_UNIGRAM_H_
