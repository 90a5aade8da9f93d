#include "engine/runnable.h"

#include "models/registry.h"
#include "tokenizer/tokenizer.h"

namespace adit::engine {

Status CheckRunnable(const formats::GgufFile& file) {
  ADIT_RETURN_IF_ERROR(models::SpecFromGguf(file).status());
  return tokenizer::Tokenizer::FromGguf(file.metadata()).status();
}

}  // namespace adit::engine
