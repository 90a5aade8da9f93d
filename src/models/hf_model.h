#ifndef ADIT_MODELS_HF_MODEL_H_
#define ADIT_MODELS_HF_MODEL_H_

#include <memory>
#include <string>

#include "adit/status.h"
#include "formats/gguf.h"

namespace adit::models {

// A Hugging Face folder seen as the GGUF file that it would be converted to: the same keys, the same names and shapes
// of tensors, the same order of rows. Nothing is converted ahead: matrices lie in the mapped files, and those whose
// rows stand in another order or type there are computed as they are read.
//
// NotFound, Corrupt or Unsupported, by name, for what is missing, broken, or not known to this build: a model_type, a
// quantization_config, a setting, a tensor.
Result<std::unique_ptr<formats::GgufFile>> OpenHfModel(const std::string& path);

// OpenHfModel for a folder, GgufFile::Open for anything else.
Result<std::unique_ptr<formats::GgufFile>> OpenModelFiles(const std::string& path);

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_MODEL_H_
