#ifndef ADIT_MODELS_HF_CONFIG_OF_GGUF_H_
#define ADIT_MODELS_HF_CONFIG_OF_GGUF_H_

#include "adit/status.h"
#include "formats/gguf.h"
#include "formats/gguf_metadata.h"
#include "formats/json.h"

namespace adit::models {

// What config.json of a Hugging Face folder says of a model whose GGUF file this is: an object. It is read back by the
// family's own description, so that nothing is lost on the way: Unsupported, by name, for a family that this build does
// not write folders of, and for a key that would come back as something else or not at all.
Result<formats::Json> HfConfigOfGguf(const formats::GgufFile& model);

// generation_config.json: tokens that begin and end texts, and the sampling defaults.
Result<formats::Json> HfGenerationConfigOfGguf(const formats::GgufMetadata& metadata);

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_CONFIG_OF_GGUF_H_
