#ifndef ADIT_ENGINE_MODEL_SAMPLING_H_
#define ADIT_ENGINE_MODEL_SAMPLING_H_

#include <functional>
#include <string_view>

#include "adit/sampling_params.h"
#include "adit/status.h"
#include "formats/gguf_metadata.h"

namespace adit::engine {

// Puts what a model's file recommends (`general.sampling.*`, or generation_config.json) into `params`, but for fields
// that `is_set` knows: it is asked with the name of each as `adit run` has it, "top-k". Corrupt, naming the key, for a
// value of the wrong type or out of range.
Status ApplyModelSampling(const formats::GgufMetadata& metadata, const std::function<bool(std::string_view)>& is_set,
                          SamplingParams& params);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MODEL_SAMPLING_H_
