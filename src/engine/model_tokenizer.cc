#include "engine/model_tokenizer.h"

#include "formats/hf_tokenizer_keys.h"
#include "tokenizer/tokenizer_json.h"

namespace adit::engine {

Status CheckTokenizerKeys(const formats::GgufFile& model) {
  const bool is_file = model.version() > 0;
  if (is_file || model.metadata().Has("tokenizer.ggml.model")) return Status();
  ADIT_ASSIGN_OR_RETURN(const formats::HfFolder folder, formats::HfFolder::Open(model.path()));
  return formats::HfTokenizerKeys(folder).status();
}

Result<std::unique_ptr<tokenizer::Tokenizer>> OpenTokenizer(const formats::GgufFile& model) {
  const bool is_folder = model.version() == 0;
  if (is_folder) return tokenizer::LoadTokenizerJson(model.path());
  return tokenizer::Tokenizer::FromGguf(model.metadata());
}

}  // namespace adit::engine
