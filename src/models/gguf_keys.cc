#include "models/gguf_keys.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace adit::models {
namespace {

// Far above any model there is.
constexpr int64_t kMaxHeadDim = 1024;
constexpr int64_t kMaxContext = int64_t{1} << 31;
// Of LongRoPE (Ding et al. 2024): divisors for sequences up to the original context, and for longer ones.
constexpr const char* kShortDivisors = "rope_factors_short.weight";
constexpr const char* kLongDivisors = "rope_factors_long.weight";

}  // namespace

Result<int64_t> GgufKeys::Int(std::string_view name, int64_t low, int64_t high) const {
  ADIT_ASSIGN_OR_RETURN(const int64_t value, file_.metadata().GetInt(Key(name)));
  if (value < low || value > high) {
    return Corrupt("gguf: {}: {} is {}, which is not in {}..{}", file_.path(), Key(name), value, low, high);
  }
  return value;
}

Result<int64_t> GgufKeys::IntOr(std::string_view name, int64_t fallback, int64_t low, int64_t high) const {
  if (!Has(name)) return fallback;
  return Int(name, low, high);
}

Result<double> GgufKeys::FloatOr(std::string_view name, double fallback, double low, double high) const {
  ADIT_ASSIGN_OR_RETURN(const double value, file_.metadata().FloatOr(Key(name), fallback));
  if (!(value >= low && value <= high)) {
    return Corrupt("gguf: {}: {} is {}, which is not in {}..{}", file_.path(), Key(name), value, low, high);
  }
  return value;
}

Result<bool> GgufKeys::BoolOr(std::string_view name, bool fallback) const {
  return file_.metadata().BoolOr(Key(name), fallback);
}

Result<float> GgufKeys::MultiplierOr(std::string_view name, float fallback) const {
  ADIT_ASSIGN_OR_RETURN(const double value, FloatOr(name, 0.0, 0.0, 1e6));
  return value == 0.0 ? fallback : static_cast<float>(value);
}

Result<GgufHyperparameters> GgufKeys::ReadCommon(ModelSpec& spec, nn::NormKind norm_kind) const {
  GgufHyperparameters params;
  ADIT_ASSIGN_OR_RETURN(spec.hidden_dim, Int("embedding_length", 1, kMaxDim));
  ADIT_ASSIGN_OR_RETURN(spec.context_length, Int("context_length", 1, kMaxContext));
  ADIT_ASSIGN_OR_RETURN(params.num_layers, Int("block_count", 1, kMaxLayers));
  ADIT_ASSIGN_OR_RETURN(params.ffn_dim, Int("feed_forward_length", 1, kMaxDim));
  ADIT_ASSIGN_OR_RETURN(params.num_heads, Int("attention.head_count", 1, kMaxDim));
  ADIT_ASSIGN_OR_RETURN(params.num_kv_heads, IntOr("attention.head_count_kv", params.num_heads, 1, params.num_heads));
  if (params.num_heads % params.num_kv_heads != 0) {
    return Corrupt("gguf: {}: {} = {} is not a multiple of {} = {}", file_.path(), Key("attention.head_count"),
                   params.num_heads, Key("attention.head_count_kv"), params.num_kv_heads);
  }
  const int64_t even_share = spec.hidden_dim / params.num_heads;
  ADIT_ASSIGN_OR_RETURN(const int64_t k_dim, IntOr("attention.key_length", even_share, 1, kMaxHeadDim));
  ADIT_ASSIGN_OR_RETURN(const int64_t v_dim, IntOr("attention.value_length", k_dim, 1, kMaxHeadDim));
  ADIT_ASSIGN_OR_RETURN(const int64_t rope_dims, IntOr("rope.dimension_count", k_dim, 0, k_dim));
  if (k_dim < 1 || k_dim > kMaxHeadDim) {
    return Corrupt("gguf: {}: {} / {} gives heads of {}, which is not in 1..{}", file_.path(), Key("embedding_length"),
                   Key("attention.head_count"), k_dim, kMaxHeadDim);
  }
  if (rope_dims % 2 != 0) {
    return Corrupt("gguf: {}: {} is {}, which is odd", file_.path(), Key("rope.dimension_count"), rope_dims);
  }
  params.k_dim = static_cast<int>(k_dim);
  params.v_dim = static_cast<int>(v_dim);
  params.rope_dims = static_cast<int>(rope_dims);
  const char* eps_name =
      norm_kind == nn::NormKind::kRms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
  ADIT_ASSIGN_OR_RETURN(const double eps, FloatOr(eps_name, 1e-5, 0.0, 1.0));
  spec.norm_kind = norm_kind;
  spec.norm_eps = static_cast<float>(eps);
  ADIT_RETURN_IF_ERROR(RefuseUnless("expert_count", 0));
  return params;
}

Result<nn::RopeConfig> GgufKeys::ReadRope(const GgufHyperparameters& params, bool interleaved) const {
  nn::RopeConfig rope{.num_pairs = params.rope_dims / 2, .interleaved = interleaved};
  ADIT_ASSIGN_OR_RETURN(rope.theta, FloatOr("rope.freq_base", 10000.0, 2.0, 1e15));
  ADIT_ASSIGN_OR_RETURN(const std::string_view type, file_.metadata().StringOr(Key("rope.scaling.type"), "none"));
  // Older files give a linear factor without a type.
  ADIT_ASSIGN_OR_RETURN(const double linear, FloatOr("rope.scale_linear", 1.0, 0.0, 1e6));
  ADIT_ASSIGN_OR_RETURN(rope.factor, FloatOr("rope.scaling.factor", linear, 0.0, 1e6));
  if (rope.factor == 0.0) rope.factor = 1.0;
  ADIT_ASSIGN_OR_RETURN(rope.attention_factor, FloatOr("rope.scaling.attn_factor", 1.0, 1e-3, 1e3));
  if (type == "linear" || (type == "none" && rope.factor != 1.0 && !Has("rope.scaling.type"))) {
    rope.scaling = nn::RopeScaling::kLinear;
  } else if (type == "yarn") {
    rope.scaling = nn::RopeScaling::kYarn;
    ADIT_ASSIGN_OR_RETURN(rope.original_context, FloatOr("rope.scaling.original_context_length", 0.0, 0.0, 1e12));
    if (rope.original_context < 1.0) {
      return Corrupt("gguf: {}: yarn scaling needs {}", file_.path(), Key("rope.scaling.original_context_length"));
    }
    ADIT_ASSIGN_OR_RETURN(rope.beta_fast, FloatOr("rope.scaling.yarn_beta_fast", 32.0, 1e-6, 1e6));
    ADIT_ASSIGN_OR_RETURN(rope.beta_slow, FloatOr("rope.scaling.yarn_beta_slow", 1.0, 1e-6, 1e6));
    // The file's factor multiplies the one that the paper gives.
    rope.attention_factor *= 0.1 * std::log(std::max(rope.factor, 1.0)) + 1.0;
    ADIT_RETURN_IF_ERROR(RefuseUnless("rope.scaling.yarn_log_multiplier", 0.0));
  } else if (type != "none" && !(type == "longrope" && file_.Find(kLongDivisors) != nullptr)) {
    return Unsupported(
        "gguf: {}: {} is '{}'; this build knows none, linear, yarn, longrope with its factors as tensors, and Llama "
        "3's "
        "divisors",
        file_.path(), Key("rope.scaling.type"), type);
  }
  if (file_.Find("rope_freqs.weight") != nullptr) {
    ADIT_ASSIGN_OR_RETURN(rope.frequency_divisors, ReadDivisors("rope_freqs.weight", rope.num_pairs));
  }
  ADIT_RETURN_IF_ERROR(ReadLongRope(rope));
  return rope;
}

// The attention factor of files that do not give it is the paper's.
Status GgufKeys::ReadLongRope(nn::RopeConfig& rope) const {
  if (file_.Find(kLongDivisors) == nullptr) return Status();
  ADIT_ASSIGN_OR_RETURN(rope.frequency_divisors, ReadDivisors(kShortDivisors, rope.num_pairs));
  ADIT_ASSIGN_OR_RETURN(rope.long_divisors, ReadDivisors(kLongDivisors, rope.num_pairs));
  ADIT_ASSIGN_OR_RETURN(const int64_t context, Int("context_length", 1, kMaxContext));
  ADIT_ASSIGN_OR_RETURN(const int64_t original, Int("rope.scaling.original_context_length", 2, kMaxContext));
  rope.original_context = static_cast<double>(original);
  if (!Has("rope.scaling.attn_factor") && context > original) {
    const double stretch = static_cast<double>(context) / rope.original_context;
    rope.attention_factor = std::sqrt(1.0 + std::log(stretch) / std::log(rope.original_context));
  }
  return Status();
}

Result<std::vector<float>> GgufKeys::ReadDivisors(std::string_view name, int num_pairs) const {
  const formats::TensorInfo* tensor = file_.Find(name);
  if (tensor == nullptr || tensor->dtype != DType::kF32 || tensor->rank != 1 || tensor->shape[0] != num_pairs) {
    return Corrupt("gguf: {}: tensor '{}' is not {} values of f32", file_.path(), name, num_pairs);
  }
  std::vector<float> divisors(static_cast<size_t>(num_pairs));
  formats::ReadFloats(file_, *tensor, divisors.data());
  for (const float divisor : divisors) {
    if (!(divisor > 0.0f) || !std::isfinite(divisor)) {
      return Corrupt("gguf: {}: tensor '{}' holds {}, which is no divisor", file_.path(), name, divisor);
    }
  }
  return divisors;
}

Status GgufKeys::RefuseUnless(std::string_view name, double neutral) const {
  if (!Has(name)) return Status();
  ADIT_ASSIGN_OR_RETURN(const double value, file_.metadata().GetFloat(Key(name)));
  if (value == neutral) return Status();
  return Unsupported("gguf: {}: {} is {}; this build runs {} models only with {}", file_.path(), Key(name), value,
                     prefix_, neutral);
}

Status GgufKeys::RefuseIfThere(std::string_view name) const {
  if (!Has(name)) return Status();
  return Unsupported("gguf: {}: {} is set; this build runs {} models only without it", file_.path(), Key(name),
                     prefix_);
}

LayerSpec PlainLayer(const GgufHyperparameters& params) {
  return {.mixer = nn::AttentionBlockConfig{.shape = {.num_heads = static_cast<int>(params.num_heads),
                                                      .num_kv_heads = static_cast<int>(params.num_kv_heads),
                                                      .k_dim = params.k_dim,
                                                      .v_dim = params.v_dim,
                                                      .scale = 1.0f / std::sqrt(static_cast<float>(params.k_dim))},
                                            .rope = 0},
          .feed_forward = nn::GatedFeedForwardConfig{.ffn_dim = params.ffn_dim}};
}

}  // namespace adit::models
