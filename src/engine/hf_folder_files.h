#ifndef ADIT_ENGINE_HF_FOLDER_FILES_H_
#define ADIT_ENGINE_HF_FOLDER_FILES_H_

#include <string>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "formats/gguf.h"
#include "formats/json.h"

namespace adit::engine {

// What a Hugging Face folder holds beside the weights.
struct HfFolderFiles {
  formats::Json config;  // an object, without quantization_config
  // Name and contents: tokenizer, chat template, generation_config.json and the like.
  std::vector<std::pair<std::string, std::string>> others;
};

// Those of a folder that `model` is a view of, as they are; those that say what a GGUF file does. Unsupported, by name,
// for what a GGUF file has and such a folder has no place for.
Result<HfFolderFiles> HfFilesOf(const formats::GgufFile& model);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_HF_FOLDER_FILES_H_
