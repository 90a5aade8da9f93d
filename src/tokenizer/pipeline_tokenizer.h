#ifndef ADIT_TOKENIZER_PIPELINE_TOKENIZER_H_
#define ADIT_TOKENIZER_PIPELINE_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/normalizer.h"
#include "tokenizer/special_matcher.h"
#include "tokenizer/text_cutter.h"
#include "tokenizer/vocabulary_tokenizer.h"
#include "tokenizer/word_model.h"

namespace adit::tokenizer {

// A tokenizer of steps, as the `tokenizers` library defines them: the text between special tokens is normalized,
// special tokens whose normalized text is looked for are found in that, what is between is cut into words, and these
// are encoded one by one.
class PipelineTokenizer : public VocabularyTokenizer {
 public:
  struct Pipeline {
    std::unique_ptr<Normalizer> normalizer;  // null: none
    SpecialMatcher normalized_matcher;       // built
    bool normalized_trust = false;           // some of its tokens need trust
    std::vector<std::unique_ptr<TextCutter>> cutters;
    std::unique_ptr<WordModel> model;
    std::string description;
  };

  PipelineTokenizer(Parts parts, Pipeline pipeline);

  std::string Description() const override { return pipeline_.description; }

 protected:
  void EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const override;

 private:
  std::string Normalized(std::string_view text) const;
  std::vector<TrustedRange> TrustedIn(const TextRun& run, size_t normalized_bytes) const;
  void EncodeNormalized(std::string_view text, bool at_start, std::vector<int32_t>& ids) const;

  Pipeline pipeline_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_PIPELINE_TOKENIZER_H_
