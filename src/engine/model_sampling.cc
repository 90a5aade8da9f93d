#include "engine/model_sampling.h"

#include <algorithm>

#include "base/error.h"

namespace adit::engine {
namespace {

struct RealField {
  std::string_view name;
  const char* key;
  double SamplingParams::*field;
  double low;
  double high;
};

constexpr RealField kReals[] = {
    {"temp", "general.sampling.temp", &SamplingParams::temperature, 0.0, 2.0},
    {"top-p", "general.sampling.top_p", &SamplingParams::top_p, 0.0, 1.0},
    {"min-p", "general.sampling.min_p", &SamplingParams::min_p, 0.0, 1.0},
    {"xtc-probability", "general.sampling.xtc_probability", &SamplingParams::xtc_probability, 0.0, 1.0},
    {"xtc-threshold", "general.sampling.xtc_threshold", &SamplingParams::xtc_threshold, 0.0, 1.0},
    {"repeat-penalty", "general.sampling.penalty_repeat", &SamplingParams::repetition_penalty, 1e-3, 10.0},
    {"mirostat-tau", "general.sampling.mirostat_tau", &SamplingParams::mirostat_tau, 0.0, 1e3},
    {"mirostat-eta", "general.sampling.mirostat_eta", &SamplingParams::mirostat_eta, 0.0, 1.0},
};

Result<int64_t> IntIn(const formats::GgufMetadata& metadata, const char* key, int64_t low, int64_t high) {
  ADIT_ASSIGN_OR_RETURN(const int64_t value, metadata.GetInt(key));
  if (value >= low && value <= high) return value;
  return Corrupt("{}: {} is {}, which is not in {}..{}", metadata.path(), key, value, low, high);
}

}  // namespace

Status ApplyModelSampling(const formats::GgufMetadata& metadata, const std::function<bool(std::string_view)>& is_set,
                          SamplingParams& params) {
  constexpr int64_t kMax = int64_t{1} << 31;
  for (const RealField& row : kReals) {
    if (!metadata.Has(row.key) || is_set(row.name)) continue;
    ADIT_ASSIGN_OR_RETURN(const double value, metadata.GetFloat(row.key));
    if (!(value >= row.low && value <= row.high)) {
      return Corrupt("{}: {} is {}, which is not in {}..{}", metadata.path(), row.key, value, row.low, row.high);
    }
    params.*row.field = value;
  }
  const auto wants = [&](const char* key, std::string_view name) { return metadata.Has(key) && !is_set(name); };
  if (wants("general.sampling.top_k", "top-k")) {
    ADIT_ASSIGN_OR_RETURN(params.top_k, IntIn(metadata, "general.sampling.top_k", -1, kMax));
  }
  if (wants("general.sampling.penalty_last_n", "repeat-last-n")) {
    ADIT_ASSIGN_OR_RETURN(params.repeat_last_n, IntIn(metadata, "general.sampling.penalty_last_n", -1, kMax));
  }
  if (wants("general.sampling.mirostat", "mirostat")) {
    ADIT_ASSIGN_OR_RETURN(const int64_t version, IntIn(metadata, "general.sampling.mirostat", 0, 2));
    params.mirostat = static_cast<int32_t>(version);
  }
  return Status();
}

}  // namespace adit::engine
