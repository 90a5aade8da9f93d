// What config.json says of position encodings, in GGUF's keys.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"
#include "models/hf_keys.h"

namespace adit::models {
namespace {

constexpr double kMinTheta = 2.0;
constexpr double kMaxTheta = 1e15;
constexpr double kMaxFactor = 1e6;
constexpr double kMaxScaledContext = 1e12;

// Transformers from version 5 may have one object for each kind of layer.
bool TellsLayersApart(const formats::Json& parameters) {
  for (const auto& [name, value] : *parameters.AsObject()) {
    if (value.AsObject() != nullptr) return true;
  }
  return false;
}

}  // namespace

Result<HfKeys::RopeFields> HfKeys::FindRope(std::string_view layer_type, double default_theta,
                                            std::string_view theta_key) const {
  const formats::JsonFields fields = config();
  RopeFields rope;
  ADIT_ASSIGN_OR_RETURN(rope.theta, fields.FloatOr(theta_key, default_theta, kMinTheta, kMaxTheta));
  const std::string_view name = fields.Has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (!fields.Has(name)) return rope;
  ADIT_ASSIGN_OR_RETURN(rope.scaling, fields.Object(name));
  if (TellsLayersApart(*fields.Find(name))) {
    ADIT_ASSIGN_OR_RETURN(rope.scaling, rope.scaling->Object(layer_type));
  }
  ADIT_ASSIGN_OR_RETURN(rope.theta, rope.scaling->FloatOr("rope_theta", rope.theta, kMinTheta, kMaxTheta));
  ADIT_ASSIGN_OR_RETURN(rope.type, rope.scaling->StringOr("type", rope.type));
  ADIT_ASSIGN_OR_RETURN(rope.type, rope.scaling->StringOr("rope_type", rope.type));
  return rope;
}

Result<double> HfKeys::SlidingTheta(std::string_view old_key, double default_theta) const {
  const formats::JsonFields fields = config();
  const formats::Json* parameters = fields.Find("rope_parameters");
  if (parameters == nullptr || parameters->AsObject() == nullptr || !TellsLayersApart(*parameters)) {
    return fields.FloatOr(old_key, default_theta, kMinTheta, kMaxTheta);
  }
  ADIT_ASSIGN_OR_RETURN(const RopeFields rope, FindRope("sliding_attention", default_theta, old_key));
  if (rope.type == "default") return rope.theta;
  return Unsupported("{}: rope_type is {}; this build knows default for layers with a sliding window",
                     rope.scaling->where(), formats::Quoted(rope.type));
}

Result<double> HfKeys::OriginalContext(const formats::JsonFields& scaling) const {
  constexpr std::string_view kName = "original_max_position_embeddings";
  if (scaling.Has(kName)) return scaling.Float(kName, 1.0, kMaxScaledContext);
  if (config().Has(kName)) return config().Float(kName, 1.0, kMaxScaledContext);
  return config().Float("max_position_embeddings", 1.0, kMaxScaledContext);
}

Status HfKeys::SetYarn(const formats::JsonFields& scaling) {
  ADIT_ASSIGN_OR_RETURN(const double factor, scaling.Float("factor", 1.0, kMaxFactor));
  ADIT_ASSIGN_OR_RETURN(const double original, OriginalContext(scaling));
  ADIT_ASSIGN_OR_RETURN(const double beta_fast, scaling.FloatOr("beta_fast", 32.0, 1e-6, 1e6));
  ADIT_ASSIGN_OR_RETURN(const double beta_slow, scaling.FloatOr("beta_slow", 1.0, 1e-6, 1e6));
  ADIT_ASSIGN_OR_RETURN(const bool truncate, scaling.BoolOr("truncate", true));
  if (!truncate) return Unsupported("{}: truncate is false; this build knows yarn only with true", scaling.where());
  for (const char* name : {"mscale", "mscale_all_dim"}) {
    if (scaling.Has(name))
      return Unsupported("{}: {} is not supported for {} models", scaling.where(), name, architecture_);
  }
  SetString("rope.scaling.type", "yarn");
  SetFloat("rope.scaling.factor", factor);
  SetInt("rope.scaling.original_context_length", static_cast<int64_t>(original));
  SetFloat("rope.scaling.yarn_beta_fast", beta_fast);
  SetFloat("rope.scaling.yarn_beta_slow", beta_slow);
  if (scaling.Has("attention_factor")) {
    // GGUF's factor multiplies the one that the paper gives; here it is the whole.
    ADIT_ASSIGN_OR_RETURN(const double attention_factor, scaling.Float("attention_factor", 1e-3, 1e3));
    SetFloat("rope.scaling.attn_factor", attention_factor / (0.1 * std::log(factor) + 1.0));
  }
  return Status();
}

// Llama 3.1's scaling: GGUF files hold what it divides each frequency by.
Status HfKeys::SetLlama3(const formats::JsonFields& scaling, double theta, int64_t rope_dims) {
  ADIT_ASSIGN_OR_RETURN(const double factor, scaling.Float("factor", 1.0, kMaxFactor));
  ADIT_ASSIGN_OR_RETURN(const double low, scaling.FloatOr("low_freq_factor", 1.0, 1e-6, 1e6));
  ADIT_ASSIGN_OR_RETURN(const double high, scaling.FloatOr("high_freq_factor", 4.0, 1e-6, 1e6));
  ADIT_ASSIGN_OR_RETURN(const double original, OriginalContext(scaling));
  if (high <= low) {
    return Corrupt("{}: high_freq_factor is {}, wanted more than low_freq_factor = {}", scaling.where(), high, low);
  }
  std::vector<float> divisors;
  for (int64_t pair = 0; pair < rope_dims / 2; ++pair) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(pair) / static_cast<double>(rope_dims));
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    double divisor = factor;
    if (wavelength < original / high) {
      divisor = 1.0;
    } else if (wavelength <= original / low) {
      const double smooth = (original / wavelength - low) / (high - low);
      divisor = 1.0 / ((1.0 - smooth) / factor + smooth);
    }
    divisors.push_back(static_cast<float>(divisor));
  }
  AddComputed("rope_freqs.weight", std::move(divisors));
  return Status();
}

Result<int64_t> HfKeys::RopeDims(int64_t head_dim, std::string_view old_key, double default_share) const {
  ADIT_ASSIGN_OR_RETURN(double share, config().FloatOr(old_key, default_share, 0.0, 1.0));
  if (config().Has("rope_parameters")) {
    ADIT_ASSIGN_OR_RETURN(const formats::JsonFields parameters, config().Object("rope_parameters"));
    ADIT_ASSIGN_OR_RETURN(share, parameters.FloatOr("partial_rotary_factor", share, 0.0, 1.0));
  }
  return static_cast<int64_t>(share * static_cast<double>(head_dim));
}

// LongRoPE (Ding et al. 2024): divisors for short and for long contexts, and a factor for both.
Status HfKeys::SetLongRope(const formats::JsonFields& scaling, int64_t rope_dims) {
  ADIT_ASSIGN_OR_RETURN(const double original, OriginalContext(scaling));
  ADIT_ASSIGN_OR_RETURN(const double context, config().Float("max_position_embeddings", 1.0, kMaxScaledContext));
  const double stretch = std::max(context / original, 1.0);
  ADIT_ASSIGN_OR_RETURN(
      const double attention_factor,
      scaling.FloatOr("attention_factor", std::sqrt(1.0 + std::log(stretch) / std::log(original)), 1e-3, 1e3));
  SetInt("rope.scaling.original_context_length", static_cast<int64_t>(original));
  SetFloat("rope.scaling.attn_factor", attention_factor);
  for (const bool is_long : {false, true}) {
    const std::string_view name = is_long ? "long_factor" : "short_factor";
    ADIT_ASSIGN_OR_RETURN(const std::vector<double> factors, scaling.Floats(name, 1e-6, kMaxFactor));
    if (static_cast<int64_t>(factors.size()) != rope_dims / 2) {
      return Corrupt("{}: {} has {} numbers, wanted {}", scaling.where(), name, factors.size(), rope_dims / 2);
    }
    AddComputed(is_long ? "rope_factors_long.weight" : "rope_factors_short.weight",
                std::vector<float>(factors.begin(), factors.end()));
  }
  return Status();
}

Status HfKeys::ReadRope(int64_t rope_dims, double default_theta, std::string_view theta_key) {
  ADIT_ASSIGN_OR_RETURN(const RopeFields rope, FindRope("full_attention", default_theta, theta_key));
  if (rope_dims % 2 != 0) return Corrupt("{}: {} dimensions of a head turn, which is odd", config().where(), rope_dims);
  SetInt("rope.dimension_count", rope_dims);
  SetFloat("rope.freq_base", rope.theta);
  if (rope.type == "default") return Status();
  if (rope.type == "llama3") return SetLlama3(*rope.scaling, rope.theta, rope_dims);
  if (rope.type == "yarn") return SetYarn(*rope.scaling);
  if (rope.type == "longrope") return SetLongRope(*rope.scaling, rope_dims);
  if (rope.type == "linear") {
    ADIT_ASSIGN_OR_RETURN(const double factor, rope.scaling->Float("factor", 1e-6, kMaxFactor));
    SetString("rope.scaling.type", "linear");
    SetFloat("rope.scaling.factor", factor);
    return Status();
  }
  return Unsupported("{}: rope_type is {}; this build knows default, linear, llama3, yarn and longrope for {} models",
                     rope.scaling->where(), formats::Quoted(rope.type), architecture_);
}

}  // namespace adit::models
