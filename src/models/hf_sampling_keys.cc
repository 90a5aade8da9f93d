#include "models/hf_sampling_keys.h"

namespace adit::models {

Status AddSamplingKeys(const formats::HfFolder& folder,
                       std::map<std::string, formats::GgufValue, std::less<>>& values) {
  const formats::JsonFields config = folder.generation_config();
  const auto set_float = [&](const char* name, const char* key, double low, double high) -> Status {
    if (!config.Has(name)) return Status();
    ADIT_ASSIGN_OR_RETURN(const double value, config.Float(name, low, high));
    values[key] = {.type = formats::GgufType::kF32, .value = value};
    return Status();
  };
  ADIT_ASSIGN_OR_RETURN(const bool samples, config.BoolOr("do_sample", config.Has("temperature")));
  if (!samples) {
    // Recommended to be greedy only where the file says so.
    if (config.Has("do_sample")) values["general.sampling.temp"] = {.type = formats::GgufType::kF32, .value = 0.0};
    return Status();
  }
  ADIT_RETURN_IF_ERROR(set_float("temperature", "general.sampling.temp", 0.0, 100.0));
  ADIT_RETURN_IF_ERROR(set_float("top_p", "general.sampling.top_p", 0.0, 1.0));
  ADIT_RETURN_IF_ERROR(set_float("min_p", "general.sampling.min_p", 0.0, 1.0));
  ADIT_RETURN_IF_ERROR(set_float("repetition_penalty", "general.sampling.penalty_repeat", 1e-3, 1e3));
  if (config.Has("top_k")) {
    ADIT_ASSIGN_OR_RETURN(const int64_t top_k, config.Int("top_k", 0, int64_t{1} << 31));
    values["general.sampling.top_k"] = {.type = formats::GgufType::kI32, .value = top_k};
  }
  return Status();
}

}  // namespace adit::models
