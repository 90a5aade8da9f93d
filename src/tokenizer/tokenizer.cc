#include "tokenizer/tokenizer.h"

#include "base/error.h"
#include "formats/quoted.h"
#include "tokenizer/byte_level_bpe.h"
#include "tokenizer/gguf_unigram.h"
#include "tokenizer/gguf_word_piece.h"
#include "tokenizer/sentencepiece_bpe.h"

namespace adit::tokenizer {

Result<std::unique_ptr<Tokenizer>> Tokenizer::FromGguf(const formats::GgufMetadata& metadata) {
  constexpr std::string_view kModelKey = "tokenizer.ggml.model";
  ADIT_ASSIGN_OR_RETURN(const std::string_view model, metadata.GetString(kModelKey));
  if (model == "gpt2") return ByteLevelBpe::Load(metadata);
  if (model == "llama") return SentencePieceBpe::Load(metadata);
  if (model == "t5") return GgufUnigram::Load(metadata);
  if (model == "bert") return GgufWordPiece::Load(metadata);
  return Unsupported("gguf: {}: key '{}' is {}, this build knows: bert, gpt2, llama, t5", metadata.path(), kModelKey,
                     formats::Quoted(model));
}

}  // namespace adit::tokenizer
