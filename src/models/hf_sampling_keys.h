#ifndef ADIT_MODELS_HF_SAMPLING_KEYS_H_
#define ADIT_MODELS_HF_SAMPLING_KEYS_H_

#include <functional>
#include <map>
#include <string>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "formats/hf_folder.h"

namespace adit::models {

// What generation_config.json recommends for sampling, as the keys `general.sampling.*` that GGUF has for it. Corrupt
// for numbers out of range.
Status AddSamplingKeys(const formats::HfFolder& folder, std::map<std::string, formats::GgufValue, std::less<>>& values);

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_SAMPLING_KEYS_H_
