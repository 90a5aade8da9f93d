#ifndef ADIT_ENGINE_MODEL_IDENTITY_H_
#define ADIT_ENGINE_MODEL_IDENTITY_H_

#include <string>
#include <string_view>

#include "engine/loaded_model.h"
#include "tensor/dtype.h"

namespace adit::engine {

// What the tokens of a request hang on, beside the request: "fp_<build>_<weights>_<kernel set>". Where it stays the
// same, so do the tokens; OpenAI's system_fingerprint.
std::string Fingerprint(const LoadedModel& model, std::string_view build);

// The type that most bytes of the file are in.
DType MainType(const LoadedModel& model);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MODEL_IDENTITY_H_
