#include "models/hf_keys.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"
#include "models/model_spec.h"

namespace adit::models {
namespace {

// Far above any model there is; GgufKeys checks again.
constexpr int64_t kMaxHfContext = int64_t{1} << 31;

}  // namespace

HfKeys::HfKeys(const formats::HfFolder& folder, std::string architecture)
    : folder_(folder), architecture_(std::move(architecture)) {}

void HfKeys::AddComputed(std::string name, std::vector<float> values) {
  computed_.push_back({std::move(name), std::move(values)});
}

void HfKeys::SetInt(std::string_view name, int64_t value) {
  values_[fmt::format("{}.{}", architecture_, name)] = {.type = formats::GgufType::kU32,
                                                        .value = static_cast<uint64_t>(value)};
}

void HfKeys::SetFloat(std::string_view name, double value) {
  values_[fmt::format("{}.{}", architecture_, name)] = {.type = formats::GgufType::kF32, .value = value};
}

void HfKeys::SetString(std::string_view name, std::string_view value) {
  values_[fmt::format("{}.{}", architecture_, name)] = {.type = formats::GgufType::kString,
                                                        .value = std::string(value)};
}

void HfKeys::SetBool(std::string_view name, bool value) {
  values_[fmt::format("{}.{}", architecture_, name)] = {.type = formats::GgufType::kBool, .value = value};
}

Result<HfHyperparameters> HfKeys::ReadCommon(const HfDefaults& defaults) {
  const formats::JsonFields fields = config();
  HfHyperparameters params;
  ADIT_ASSIGN_OR_RETURN(const int64_t hidden_dim, fields.Int(defaults.hidden_key, 1, kMaxDim));
  ADIT_ASSIGN_OR_RETURN(params.num_layers, fields.Int(defaults.layers_key, 1, kMaxLayers));
  ADIT_ASSIGN_OR_RETURN(params.num_heads, fields.Int(defaults.heads_key, 1, kMaxDim));
  ADIT_ASSIGN_OR_RETURN(params.num_kv_heads,
                        fields.IntOr("num_key_value_heads", params.num_heads, 1, params.num_heads));
  ADIT_ASSIGN_OR_RETURN(params.head_dim, fields.IntOr("head_dim", hidden_dim / params.num_heads, 1, kMaxDim));
  int64_t ffn_dim = hidden_dim * defaults.ffn_per_hidden;
  if (ffn_dim == 0 || fields.Has(defaults.ffn_key)) {
    ADIT_ASSIGN_OR_RETURN(ffn_dim, fields.Int(defaults.ffn_key, 1, kMaxDim));
  }
  ADIT_ASSIGN_OR_RETURN(const int64_t context, fields.Int(defaults.context_key, 1, kMaxHfContext));
  ADIT_ASSIGN_OR_RETURN(const int64_t vocab_size, fields.Int("vocab_size", 1, kMaxDim));
  ADIT_ASSIGN_OR_RETURN(const double eps, fields.FloatOr(defaults.norm_eps_key, defaults.norm_eps, 0.0, 1.0));
  ADIT_ASSIGN_OR_RETURN(params.tied, fields.BoolOr("tie_word_embeddings", defaults.tied));
  ADIT_ASSIGN_OR_RETURN(const std::string activation, fields.StringOr(defaults.activation_key, defaults.activation));
  if (activation != defaults.activation) {
    return Unsupported("{}: {} is {}; this build runs {} models only with {}", fields.where(), defaults.activation_key,
                       formats::Quoted(activation), architecture_, defaults.activation);
  }
  if (!params.tied) required_.push_back("output.weight");
  if (params.head_dim % 2 != 0) return Corrupt("{}: heads of {}, which is odd", fields.where(), params.head_dim);
  SetInt("embedding_length", hidden_dim);
  SetInt("block_count", params.num_layers);
  SetInt("attention.head_count", params.num_heads);
  SetInt("attention.head_count_kv", params.num_kv_heads);
  SetInt("attention.key_length", params.head_dim);
  SetInt("attention.value_length", params.head_dim);
  SetInt("feed_forward_length", ffn_dim);
  SetInt("context_length", context);
  SetInt("vocab_size", vocab_size);
  SetFloat(defaults.gguf_norm_eps_key, eps);
  return params;
}

Status HfKeys::RefuseUnless(std::string_view name, double neutral) const {
  const formats::JsonFields fields = config();
  const formats::Json* value = fields.Find(name);
  if (value == nullptr) return Status();
  double number = 0.0;
  if (const bool* flag = value->AsBool(); flag != nullptr) {
    number = *flag ? 1.0 : 0.0;
  } else {
    ADIT_ASSIGN_OR_RETURN(number, fields.Float(name, -1e300, 1e300));
  }
  if (number == neutral) return Status();
  return Unsupported("{}: {} is {}; this build runs {} models only with {}", fields.where(), name, number,
                     architecture_, neutral);
}

Status HfKeys::CheckLayerTypes(int64_t num_layers, bool (*is_sliding)(int64_t layer)) const {
  const formats::JsonFields fields = config();
  const formats::Json* types = fields.Find("layer_types");
  if (types == nullptr) return Status();
  if (types->AsArray() == nullptr || static_cast<int64_t>(types->AsArray()->size()) != num_layers) {
    return Corrupt("{}: layer_types is no array of num_hidden_layers = {}", fields.where(), num_layers);
  }
  for (int64_t i = 0; i < num_layers; ++i) {
    const std::string* type = (*types->AsArray())[static_cast<size_t>(i)].AsString();
    if (type == nullptr) return Corrupt("{}: layer_types[{}] is no string", fields.where(), i);
    const std::string_view wanted = is_sliding(i) ? "sliding_attention" : "full_attention";
    if (*type == wanted) continue;
    return Unsupported("{}: layer_types[{}] is {}; this build runs {} models only with {} there", fields.where(), i,
                       formats::Quoted(*type), architecture_, wanted);
  }
  return Status();
}

std::vector<HfTensorRule> LlamaTensorRules(const HfHyperparameters& params, bool interleaved) {
  const HfTransform turned = interleaved ? HfTransform::kInterleaveHeads : HfTransform::kNone;
  const HfTransform output = params.tied ? HfTransform::kIgnore : HfTransform::kNone;
  return {
      {"model.embed_tokens.weight", "token_embd.weight"},
      {"model.norm.weight", "output_norm.weight"},
      {"lm_head.weight", "output.weight", output},
      {"lm_head.bias", "output.bias"},
      {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight"},
      {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.ffn_norm.weight"},
      {"model.layers.{}.self_attn.q_proj.weight", "blk.{}.attn_q.weight", turned, params.num_heads},
      {"model.layers.{}.self_attn.q_proj.bias", "blk.{}.attn_q.bias", turned, params.num_heads},
      {"model.layers.{}.self_attn.k_proj.weight", "blk.{}.attn_k.weight", turned, params.num_kv_heads},
      {"model.layers.{}.self_attn.k_proj.bias", "blk.{}.attn_k.bias", turned, params.num_kv_heads},
      {"model.layers.{}.self_attn.v_proj.weight", "blk.{}.attn_v.weight"},
      {"model.layers.{}.self_attn.v_proj.bias", "blk.{}.attn_v.bias"},
      {"model.layers.{}.self_attn.o_proj.weight", "blk.{}.attn_output.weight"},
      {"model.layers.{}.self_attn.o_proj.bias", "blk.{}.attn_output.bias"},
      {"model.layers.{}.mlp.gate_proj.weight", "blk.{}.ffn_gate.weight"},
      {"model.layers.{}.mlp.gate_proj.bias", "blk.{}.ffn_gate.bias"},
      {"model.layers.{}.mlp.up_proj.weight", "blk.{}.ffn_up.weight"},
      {"model.layers.{}.mlp.up_proj.bias", "blk.{}.ffn_up.bias"},
      {"model.layers.{}.mlp.down_proj.weight", "blk.{}.ffn_down.weight"},
      {"model.layers.{}.mlp.down_proj.bias", "blk.{}.ffn_down.bias"},
      {"model.layers.{}.self_attn.rotary_emb.inv_freq", "", HfTransform::kIgnore},
  };
}

}  // namespace adit::models
