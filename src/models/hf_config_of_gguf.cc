#include "models/hf_config_of_gguf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/error.h"
#include "models/hf_registry.h"

namespace adit::models {
namespace {

using formats::GgufFile;
using formats::GgufMetadata;
using formats::GgufValue;
using formats::Json;

// A member of config.json and the key, after the architecture's name, that it is.
struct ConfigMember {
  const char* member;
  const char* key;
};

// A family that folders are written of.
struct ConfigFamily {
  const char* architecture;  // GGUF's name
  const char* model_type;
  const char* class_name;
  const char* activation_member;
  const char* activation;
  std::span<const ConfigMember> members = {};  // beside those that all have
};

constexpr ConfigMember kWindowMember[] = {{"sliding_window", "attention.sliding_window"}};
constexpr ConfigMember kGemma2Members[] = {{"sliding_window", "attention.sliding_window"},
                                           {"attn_logit_softcapping", "attn_logit_softcapping"},
                                           {"final_logit_softcapping", "final_logit_softcapping"}};
constexpr ConfigMember kGemma3Members[] = {{"sliding_window", "attention.sliding_window"},
                                           {"rope_local_base_freq", "rope.freq_base_swa"}};
constexpr ConfigMember kGraniteMembers[] = {{"attention_multiplier", "attention.scale"},
                                            {"embedding_multiplier", "embedding_scale"},
                                            {"residual_multiplier", "residual_scale"},
                                            {"logits_scaling", "logit_scale"}};
constexpr const char* kGelu = "gelu_pytorch_tanh";

constexpr ConfigFamily kMistralConfig = {"llama", "mistral", "MistralForCausalLM", "hidden_act", "silu", kWindowMember};
constexpr ConfigFamily kConfigFamilies[] = {
    {"gemma", "gemma", "GemmaForCausalLM", "hidden_activation", kGelu},
    {"gemma2", "gemma2", "Gemma2ForCausalLM", "hidden_activation", kGelu, kGemma2Members},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM", "hidden_activation", kGelu, kGemma3Members},
    {"granite", "granite", "GraniteForCausalLM", "hidden_act", "silu", kGraniteMembers},
    {"llama", "llama", "LlamaForCausalLM", "hidden_act", "silu"},
    {"olmo2", "olmo2", "Olmo2ForCausalLM", "hidden_act", "silu"},
    {"qwen2", "qwen2", "Qwen2ForCausalLM", "hidden_act", "silu"},
    {"qwen3", "qwen3", "Qwen3ForCausalLM", "hidden_act", "silu"},
    {"smollm3", "smollm3", "SmolLM3ForCausalLM", "hidden_act", "silu"},
};

// What all have. Those that a file leaves out are left out, but for the ones that NeededMembers adds.
constexpr ConfigMember kCommonMembers[] = {
    {"hidden_size", "embedding_length"},
    {"num_hidden_layers", "block_count"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"intermediate_size", "feed_forward_length"},
    {"max_position_embeddings", "context_length"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    {"rope_theta", "rope.freq_base"},
};

// The shortest decimal number that is read as the same single-precision one.
double Shortest(double value) { return std::strtod(fmt::format("{}", static_cast<float>(value)).c_str(), nullptr); }

bool IsNumber(const GgufValue& value) {
  return std::holds_alternative<int64_t>(value.value) || std::holds_alternative<uint64_t>(value.value) ||
         std::holds_alternative<double>(value.value);
}

class ConfigWriter {
 public:
  ConfigWriter(const GgufFile& model, std::string architecture, const ConfigFamily& family)
      : model_(model), metadata_(model.metadata()), architecture_(std::move(architecture)), family_(family) {}

  Result<Json> Write();

 private:
  std::string Key(const char* name) const { return architecture_ + "." + name; }
  bool HasTensor(const char* name) const { return model_.Find(name) != nullptr; }
  void SetWord(const char* member, const char* word) { members_.emplace_back(member, Json(std::string(word))); }
  void SetFlag(const char* member, bool flag) { members_.emplace_back(member, Json(flag)); }
  Status SetNumber(const ConfigMember& member);
  Status SetDefaults();
  Status SetScoreScale();
  Status SetRopeScaling();
  Status SetTokens();
  Status SetVocabularySize();
  Result<Json> Divisors();
  Status CheckComesBack(const Json& config) const;
  Status CheckComputed(HfKeys& keys) const;

  const GgufFile& model_;
  const GgufMetadata& metadata_;
  const std::string architecture_;
  const ConfigFamily& family_;
  Json::Object members_;
};

Status ConfigWriter::SetNumber(const ConfigMember& member) {
  const std::string key = Key(member.key);
  const GgufValue* value = metadata_.Find(key);
  if (value == nullptr) return Status();
  if (std::holds_alternative<double>(value->value)) {
    members_.emplace_back(member.member, Json(Shortest(std::get<double>(value->value))));
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const int64_t number, metadata_.GetInt(key));
  members_.emplace_back(member.member, Json(number));
  return Status();
}

// What a GGUF file may leave out and transformers would take to be something else.
Status ConfigWriter::SetDefaults() {
  if (!metadata_.Has(Key("rope.freq_base"))) members_.emplace_back("rope_theta", Json(10000.0));
  if (!metadata_.Has(Key("attention.layer_norm_rms_epsilon"))) members_.emplace_back("rms_norm_eps", Json(1e-5));
  if (!metadata_.Has(Key("attention.key_length"))) {
    ADIT_ASSIGN_OR_RETURN(const int64_t hidden, metadata_.GetInt(Key("embedding_length")));
    ADIT_ASSIGN_OR_RETURN(const int64_t heads, metadata_.GetInt(Key("attention.head_count")));
    if (heads > 0) members_.emplace_back("head_dim", Json(hidden / heads));
  }
  if (architecture_ == "gemma2" || architecture_ == "gemma3") ADIT_RETURN_IF_ERROR(SetScoreScale());
  // Transformers has another default for each family.
  SetFlag("tie_word_embeddings", !HasTensor("output.weight"));
  SetFlag("attention_bias", HasTensor("blk.0.attn_q.bias"));
  if (family_.model_type == std::string_view("llama")) SetFlag("mlp_bias", HasTensor("blk.0.ffn_up.bias"));
  if (architecture_ == "gemma3" && !metadata_.Has(Key("rope.freq_base_swa"))) {
    members_.emplace_back("rope_local_base_freq", Json(10000.0));
  }
  return Status();
}

// Scores are divided by the root of a head's size, but for the largest model of each, which only its depth tells.
Status ConfigWriter::SetScoreScale() {
  ADIT_ASSIGN_OR_RETURN(const int64_t hidden, metadata_.GetInt(Key("embedding_length")));
  ADIT_ASSIGN_OR_RETURN(const int64_t heads, metadata_.GetInt(Key("attention.head_count")));
  ADIT_ASSIGN_OR_RETURN(const int64_t layers, metadata_.GetInt(Key("block_count")));
  if (heads < 1) return Corrupt("{}: {} is {}", model_.path(), Key("attention.head_count"), heads);
  ADIT_ASSIGN_OR_RETURN(const int64_t head_dim, metadata_.IntOr(Key("attention.key_length"), hidden / heads));
  const bool is_27b = layers == (architecture_ == "gemma2" ? 46 : 62);
  members_.emplace_back("query_pre_attn_scalar", Json(is_27b ? hidden / heads : head_dim));
  return Status();
}

// Llama 3.1's divisors, whose parameters files do not give: those of the released models, which are checked by what
// they give.
Result<Json> ConfigWriter::Divisors() {
  const formats::TensorInfo& tensor = *model_.Find("rope_freqs.weight");
  std::vector<float> divisors(static_cast<size_t>(tensor.num_elements()));
  formats::ReadFloats(model_, tensor, divisors.data());
  const float largest = divisors.empty() ? 1.0f : std::ranges::max(divisors);
  return Json(Json::Object{{"rope_type", Json(std::string("llama3"))},
                           {"factor", Json(static_cast<double>(largest))},
                           {"low_freq_factor", Json(1.0)},
                           {"high_freq_factor", Json(4.0)},
                           {"original_max_position_embeddings", Json(int64_t{8192})}});
}

Status ConfigWriter::SetRopeScaling() {
  if (HasTensor("rope_freqs.weight")) {
    ADIT_ASSIGN_OR_RETURN(Json scaling, Divisors());
    members_.emplace_back("rope_scaling", std::move(scaling));
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const std::string_view type, metadata_.StringOr(Key("rope.scaling.type"), "none"));
  if (type == "none") return Status();
  if (type != "linear" && type != "yarn") {
    return Unsupported("{}: {} is '{}'; this build writes none, linear, yarn and Llama 3's divisors into config.json",
                       model_.path(), Key("rope.scaling.type"), type);
  }
  Json::Object scaling{{"rope_type", Json(std::string(type))}};
  ADIT_ASSIGN_OR_RETURN(const double factor, metadata_.FloatOr(Key("rope.scaling.factor"), 1.0));
  scaling.emplace_back("factor", Json(Shortest(factor)));
  if (type == "yarn") {
    ADIT_ASSIGN_OR_RETURN(const int64_t original, metadata_.GetInt(Key("rope.scaling.original_context_length")));
    ADIT_ASSIGN_OR_RETURN(const double fast, metadata_.FloatOr(Key("rope.scaling.yarn_beta_fast"), 32.0));
    ADIT_ASSIGN_OR_RETURN(const double slow, metadata_.FloatOr(Key("rope.scaling.yarn_beta_slow"), 1.0));
    scaling.emplace_back("original_max_position_embeddings", Json(original));
    scaling.emplace_back("beta_fast", Json(Shortest(fast)));
    scaling.emplace_back("beta_slow", Json(Shortest(slow)));
    // Here the whole factor, there what multiplies the paper's.
    ADIT_ASSIGN_OR_RETURN(const double attention, metadata_.FloatOr(Key("rope.scaling.attn_factor"), 1.0));
    if (attention != 1.0) {
      scaling.emplace_back("attention_factor", Json(attention * (0.1 * std::log(factor) + 1.0)));
    }
  }
  members_.emplace_back("rope_scaling", Json(std::move(scaling)));
  return Status();
}

Status ConfigWriter::SetTokens() {
  for (const auto& [member, key] : {ConfigMember{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                    ConfigMember{"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                    ConfigMember{"pad_token_id", "tokenizer.ggml.padding_token_id"}}) {
    if (!metadata_.Has(key)) continue;
    ADIT_ASSIGN_OR_RETURN(const int64_t id, metadata_.GetInt(key));
    members_.emplace_back(member, Json(id));
  }
  return Status();
}

Status ConfigWriter::SetVocabularySize() {
  const formats::TensorInfo* embedding = model_.Find("token_embd.weight");
  if (embedding == nullptr) return Corrupt("{}: tensor 'token_embd.weight' is missing", model_.path());
  members_.emplace_back("vocab_size", Json(embedding->num_rows()));
  return Status();
}

bool SameNumber(const GgufMetadata& metadata, const std::string& key, const GgufMetadata& other) {
  const Result<double> a = metadata.GetFloat(key);
  const Result<double> b = other.GetFloat(key);
  return a.ok() && b.ok() && static_cast<float>(*a) == static_cast<float>(*b);
}

// What follows from config.json is what the file has.
Status ConfigWriter::CheckComputed(HfKeys& keys) const {
  for (const HfComputedTensor& computed : keys.computed()) {
    const formats::TensorInfo* tensor = model_.Find(computed.name);
    std::vector<float> values(tensor == nullptr ? 0 : static_cast<size_t>(tensor->num_elements()));
    if (tensor != nullptr) formats::ReadFloats(model_, *tensor, values.data());
    const bool same = values.size() == computed.values.size() &&
                      std::equal(values.begin(), values.end(), computed.values.begin(),
                                 [](float a, float b) { return std::abs(a - b) <= 1e-5f * std::abs(a); });
    if (same) continue;
    return Unsupported("{}: tensor '{}' holds divisors that config.json's rope_scaling of Llama 3 cannot say",
                       model_.path(), computed.name);
  }
  return Status();
}

Status ConfigWriter::CheckComesBack(const Json& config) const {
  const formats::HfFolder folder = formats::HfFolder::Of(config, Json(Json::Object()));
  ADIT_ASSIGN_OR_RETURN(HfKeys keys, ReadHfConfig(folder));
  const GgufMetadata back(model_.path(), keys.values());
  for (const auto& [key, value] : metadata_.values()) {
    if (!key.starts_with(architecture_ + ".") || key == Key("vocab_size")) continue;
    // That there is no scaling needs no saying.
    if (key.starts_with(Key("rope.scaling.")) && !metadata_.Has(Key("rope.scaling.factor"))) continue;
    const GgufValue* other = back.Find(key);
    const bool same =
        other != nullptr && (IsNumber(value) ? SameNumber(metadata_, key, back) : value.value == other->value);
    if (same) continue;
    // A cap or multiplier of 0 is none.
    const Result<double> number = metadata_.GetFloat(key);
    if (other == nullptr && number.ok() && *number == 0.0) continue;
    return Unsupported("{}: config.json of a {} model has no place for what {} says", model_.path(), family_.model_type,
                       key);
  }
  return CheckComputed(keys);
}

Result<Json> ConfigWriter::Write() {
  members_.emplace_back("architectures", Json(Json::Array{Json(std::string(family_.class_name))}));
  SetWord("model_type", family_.model_type);
  SetWord(family_.activation_member, family_.activation);
  // Both names are in use for Gemma's.
  if (family_.activation_member != std::string_view("hidden_act")) SetWord("hidden_act", family_.activation);
  for (const ConfigMember& member : kCommonMembers) ADIT_RETURN_IF_ERROR(SetNumber(member));
  for (const ConfigMember& member : family_.members) ADIT_RETURN_IF_ERROR(SetNumber(member));
  ADIT_RETURN_IF_ERROR(SetVocabularySize());
  ADIT_RETURN_IF_ERROR(SetDefaults());
  ADIT_RETURN_IF_ERROR(SetRopeScaling());
  ADIT_RETURN_IF_ERROR(SetTokens());
  Json config(std::move(members_));
  ADIT_RETURN_IF_ERROR(CheckComesBack(config));
  return config;
}

}  // namespace

Result<Json> HfConfigOfGguf(const GgufFile& model) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view architecture, model.metadata().GetString("general.architecture"));
  if (architecture == "llama" && model.metadata().Has("llama.attention.sliding_window")) {
    return ConfigWriter(model, "llama", kMistralConfig).Write();
  }
  for (const ConfigFamily& family : kConfigFamilies) {
    if (architecture == family.architecture) return ConfigWriter(model, std::string(architecture), family).Write();
  }
  std::string known;
  for (const ConfigFamily& family : kConfigFamilies)
    known += (known.empty() ? "" : ", ") + std::string(family.architecture);
  return Unsupported("{}: Hugging Face folders of {} models cannot be made from a GGUF file; those of {} can",
                     model.path(), architecture, known);
}

Result<Json> HfGenerationConfigOfGguf(const GgufMetadata& metadata) {
  Json::Object members;
  for (const auto& [member, key] : {ConfigMember{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                    ConfigMember{"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                    ConfigMember{"pad_token_id", "tokenizer.ggml.padding_token_id"}}) {
    if (!metadata.Has(key)) continue;
    ADIT_ASSIGN_OR_RETURN(const int64_t id, metadata.GetInt(key));
    members.emplace_back(member, Json(id));
  }
  const auto number = [&](const char* key) -> Result<double> {
    ADIT_ASSIGN_OR_RETURN(const double value, metadata.GetFloat(key));
    return Shortest(value);
  };
  if (metadata.Has("general.sampling.temp")) {
    ADIT_ASSIGN_OR_RETURN(const double temperature, number("general.sampling.temp"));
    members.emplace_back("do_sample", Json(temperature > 0.0));
    if (temperature > 0.0) members.emplace_back("temperature", Json(temperature));
  }
  for (const auto& [member, key] :
       {ConfigMember{"top_p", "general.sampling.top_p"}, ConfigMember{"min_p", "general.sampling.min_p"},
        ConfigMember{"repetition_penalty", "general.sampling.penalty_repeat"}}) {
    if (!metadata.Has(key)) continue;
    ADIT_ASSIGN_OR_RETURN(const double value, number(key));
    members.emplace_back(member, Json(value));
  }
  if (metadata.Has("general.sampling.top_k")) {
    ADIT_ASSIGN_OR_RETURN(const int64_t top_k, metadata.GetInt("general.sampling.top_k"));
    members.emplace_back("top_k", Json(top_k));
  }
  return Json(std::move(members));
}

}  // namespace adit::models
