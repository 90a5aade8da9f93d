#include "quant/scheme.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "adit/status.h"
#include "formats/retyped_model.h"
#include "quant/layer_name.h"

namespace adit::quant {
namespace {

constexpr std::array<Scheme, 23> kSchemes = {{
    {SchemeId::kF32, "F32", DType::kF32, 0},           {SchemeId::kF16, "F16", DType::kF16, 1},
    {SchemeId::kBF16, "BF16", DType::kBF16, 32},       {SchemeId::kQ4_0, "Q4_0", DType::kQ4_0, 2},
    {SchemeId::kQ4_1, "Q4_1", DType::kQ4_1, 3},        {SchemeId::kQ5_0, "Q5_0", DType::kQ5_0, 8},
    {SchemeId::kQ5_1, "Q5_1", DType::kQ5_1, 9},        {SchemeId::kQ8_0, "Q8_0", DType::kQ8_0, 7},
    {SchemeId::kQ2_K, "Q2_K", DType::kQ2_K, 10},       {SchemeId::kQ2_K_S, "Q2_K_S", DType::kQ2_K, 21},
    {SchemeId::kQ3_K_S, "Q3_K_S", DType::kQ3_K, 11},   {SchemeId::kQ3_K_M, "Q3_K_M", DType::kQ3_K, 12},
    {SchemeId::kQ3_K_L, "Q3_K_L", DType::kQ3_K, 13},   {SchemeId::kQ4_K_S, "Q4_K_S", DType::kQ4_K, 14},
    {SchemeId::kQ4_K_M, "Q4_K_M", DType::kQ4_K, 15},   {SchemeId::kQ5_K_S, "Q5_K_S", DType::kQ5_K, 16},
    {SchemeId::kQ5_K_M, "Q5_K_M", DType::kQ5_K, 17},   {SchemeId::kQ6_K, "Q6_K", DType::kQ6_K, 18},
    {SchemeId::kIQ4_NL, "IQ4_NL", DType::kIQ4_NL, 25}, {SchemeId::kIQ4_XS, "IQ4_XS", DType::kIQ4_XS, 30},
    {SchemeId::kTQ1_0, "TQ1_0", DType::kTQ1_0, 36},    {SchemeId::kTQ2_0, "TQ2_0", DType::kTQ2_0, 37},
    {SchemeId::kMXFP4, "MXFP4", DType::kMXFP4, 38},
}};

// Where a matrix stands.
struct Place {
  int64_t layer = 0;
  int64_t num_layers = 1;
  int64_t heads_per_kv = 1;
  bool weighted = false;

  bool IsEarly() const { return layer < num_layers / 8; }
  // The first and the last eighth, and a third of those between.
  bool IsSensitive() const { return IsEarly() || layer >= 7 * num_layers / 8 || (layer - num_layers / 8) % 3 == 2; }
};

// Values are few where heads share them, and all that a token says to others goes through them.
DType ValueType(const Scheme& scheme, const Place& place) {
  const bool shared = place.heads_per_kv >= 4;
  switch (scheme.id) {
    case SchemeId::kQ2_K:
      return shared ? DType::kQ4_K : DType::kQ3_K;
    case SchemeId::kQ2_K_S:
      return shared ? DType::kQ4_K : scheme.base;
    case SchemeId::kQ3_K_M:
      return place.layer < 2 ? DType::kQ5_K : DType::kQ4_K;
    case SchemeId::kQ3_K_L:
      return DType::kQ5_K;
    case SchemeId::kQ4_K_S:
      return place.layer < 4 ? DType::kQ5_K : scheme.base;
    case SchemeId::kQ4_K_M:
    case SchemeId::kQ5_K_M:
      return place.IsSensitive() ? DType::kQ6_K : scheme.base;
    case SchemeId::kIQ4_NL:
    case SchemeId::kIQ4_XS:
      return shared ? DType::kQ5_K : scheme.base;
    default:
      return scheme.base;
  }
}

DType DownType(const Scheme& scheme, const Place& place) {
  switch (scheme.id) {
    case SchemeId::kQ2_K:
      return DType::kQ3_K;
    case SchemeId::kQ2_K_S:
      return place.IsEarly() ? DType::kQ4_K : scheme.base;
    case SchemeId::kQ3_K_M:
      return place.layer < place.num_layers / 16 ? DType::kQ5_K : DType::kQ4_K;
    case SchemeId::kQ3_K_L:
      return DType::kQ5_K;
    case SchemeId::kQ4_K_S:
      return place.IsEarly() ? DType::kQ5_K : scheme.base;
    case SchemeId::kQ4_K_M:
    case SchemeId::kQ5_K_M:
      return place.IsSensitive() ? DType::kQ6_K : scheme.base;
    case SchemeId::kIQ4_NL:
    case SchemeId::kIQ4_XS:
      return place.IsEarly() && !place.weighted ? DType::kQ5_K : scheme.base;
    case SchemeId::kQ4_0:
      return place.IsEarly() && place.weighted ? DType::kQ4_1 : scheme.base;
    case SchemeId::kQ5_0:
      return place.IsEarly() && place.weighted ? DType::kQ5_1 : scheme.base;
    default:
      return scheme.base;
  }
}

DType AttentionOutputType(const Scheme& scheme) {
  switch (scheme.id) {
    case SchemeId::kQ2_K:
      return DType::kQ3_K;
    case SchemeId::kQ3_K_M:
      return DType::kQ4_K;
    case SchemeId::kQ3_K_L:
      return DType::kQ5_K;
    default:
      return scheme.base;
  }
}

DType JointAttentionType(const Scheme& scheme) {
  switch (scheme.id) {
    case SchemeId::kQ3_K_M:
    case SchemeId::kQ3_K_L:
      return DType::kQ4_K;
    case SchemeId::kQ4_K_M:
      return DType::kQ5_K;
    case SchemeId::kQ5_K_M:
      return DType::kQ6_K;
    default:
      return scheme.base;
  }
}

bool IsFloat(DType dtype) { return Traits(dtype).block_elements == 1; }

// Of the matrix that gives the logits.
DType OutputType(const Scheme& scheme, const formats::TensorInfo& tensor) {
  if (IsFloat(scheme.base) || scheme.base == DType::kQ8_0) return scheme.base;
  if (tensor.row_elements() % 256 != 0 || scheme.id == SchemeId::kMXFP4) return DType::kQ8_0;
  return DType::kQ6_K;
}

DType EmbeddingType(const Scheme& scheme) {
  return scheme.id == SchemeId::kTQ1_0 || scheme.id == SchemeId::kTQ2_0 ? DType::kQ4_K : scheme.base;
}

DType MatrixType(const Scheme& scheme, std::string_view name, const Place& place) {
  if (name.ends_with("attn_v.weight")) return ValueType(scheme, place);
  if (name.ends_with("ffn_down.weight")) return DownType(scheme, place);
  if (name.ends_with("attn_output.weight")) return AttentionOutputType(scheme);
  if (name.ends_with("attn_qkv.weight")) return JointAttentionType(scheme);
  return scheme.base;
}

}  // namespace

const Scheme* FindScheme(std::string_view name) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper == "Q3_K" || upper == "Q4_K" || upper == "Q5_K") upper += "_M";
  const auto found = std::ranges::find(kSchemes, upper, &Scheme::name);
  return found == kSchemes.end() ? nullptr : &*found;
}

std::string SchemeNames() {
  std::string names;
  for (const Scheme& scheme : kSchemes) {
    if (!names.empty()) names += ", ";
    names += scheme.name;
  }
  return names;
}

std::vector<DType> SchemeTypes(const Scheme& scheme, const formats::GgufFile& model, bool weighted) {
  const formats::GgufMetadata& metadata = model.metadata();
  const Result<std::string_view> named = metadata.StringOr("general.architecture", "");
  const std::string architecture(named.ok() ? *named : "");
  const auto number = [&](const char* key, int64_t usual) {
    const Result<int64_t> found = metadata.IntOr(architecture + key, usual);
    return found.ok() ? *found : usual;
  };
  Place place{.weighted = weighted};
  place.num_layers = std::max<int64_t>(1, number(".block_count", 1));
  const int64_t num_heads = number(".attention.head_count", 1);
  place.heads_per_kv = num_heads / std::max<int64_t>(1, number(".attention.head_count_kv", num_heads));
  const bool tied = model.Find("output.weight") == nullptr;

  std::vector<DType> types;
  for (const formats::TensorInfo& tensor : model.tensors()) {
    const bool is_embedding = tensor.name == "token_embd.weight";
    place.layer = static_cast<int64_t>(LayerOf(tensor.name).value_or(0));
    DType wanted = IsFloat(tensor.dtype) ? DType::kF32 : tensor.dtype;
    if (tensor.name == "output.weight" || (is_embedding && tied)) {
      wanted = OutputType(scheme, tensor);
    } else if (is_embedding) {
      wanted = EmbeddingType(scheme);
    } else if (formats::IsWeightMatrix(tensor)) {
      wanted = MatrixType(scheme, tensor.name, place);
    }
    types.push_back(formats::FittingType(wanted, tensor.row_elements()).value_or(DType::kF16));
  }
  return types;
}

}  // namespace adit::quant
