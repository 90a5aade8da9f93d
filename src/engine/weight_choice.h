#ifndef ADIT_ENGINE_WEIGHT_CHOICE_H_
#define ADIT_ENGINE_WEIGHT_CHOICE_H_

#include <optional>
#include <string>

#include "adit/status.h"
#include "formats/retyped_model.h"

namespace adit::engine {

// The types to hold weights in that people ask for: `dtype` auto, f32, f16 or bf16, or `quantization` one of the types
// that this build can quantise to. Nothing for neither and for auto: as the file has them. InvalidArgument, with what
// is known, for another name and for both at once.
Result<std::optional<formats::WeightTypes>> WeightTypesFor(const std::optional<std::string>& dtype,
                                                           const std::optional<std::string>& quantization);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_WEIGHT_CHOICE_H_
