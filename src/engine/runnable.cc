#include "engine/runnable.h"

#include "engine/model_tokenizer.h"
#include "models/hf_model.h"
#include "models/registry.h"

namespace adit::engine {

Result<std::unique_ptr<formats::GgufFile>> OpenModelFiles(const std::string& path) {
  return models::OpenModelFiles(path);
}

Status CheckRunnable(const formats::GgufFile& file) {
  ADIT_RETURN_IF_ERROR(models::SpecFromGguf(file).status());
  return OpenTokenizer(file).status();
}

}  // namespace adit::engine
