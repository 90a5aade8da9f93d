#ifndef ADIT_MODELS_HF_KEYS_H_
#define ADIT_MODELS_HF_KEYS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "formats/hf_folder.h"
#include "models/hf_tensors.h"

namespace adit::models {

// A tensor that a GGUF file has and the checkpoint does not, since it follows from config.json.
struct HfComputedTensor {
  std::string name;
  std::vector<float> values;
};

// What all decoders of the Llama kind say of themselves in config.json.
struct HfHyperparameters {
  int64_t num_layers = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
  bool tied = false;  // the output matrix is the embedding
};

// What a family calls its settings, and what it takes when config.json leaves one out.
struct HfDefaults {
  bool tied = false;
  double norm_eps = 1e-6;
  std::string_view activation_key = "hidden_act";
  std::string_view activation = "silu";  // the one that the family runs with
  std::string_view norm_eps_key = "rms_norm_eps";
  std::string_view gguf_norm_eps_key = "attention.layer_norm_rms_epsilon";
  std::string_view hidden_key = "hidden_size";
  std::string_view layers_key = "num_hidden_layers";
  std::string_view heads_key = "num_attention_heads";
  std::string_view ffn_key = "intermediate_size";
  std::string_view context_key = "max_position_embeddings";
  int64_t ffn_per_hidden = 0;  // the feed-forward's size in hidden sizes, where it may be left out
};

// Turns config.json into the keys of a GGUF file, and tells which tensor is which: the family's file then reads both
// kinds of model by one description. Every getter's error names file and member.
class HfKeys {
 public:
  // `architecture` is GGUF's name of the family.
  HfKeys(const formats::HfFolder& folder, std::string architecture);

  const formats::HfFolder& folder() const { return folder_; }
  formats::JsonFields config() const { return folder_.config(); }
  HfTensorRules& tensors() { return tensors_; }
  void AddTensors(std::span<const HfTensorRule> rules) { tensors_.Add(rules); }
  void AddComputed(std::string name, std::vector<float> values);

  // Keys `<architecture>.<name>`.
  void SetInt(std::string_view name, int64_t value);
  void SetFloat(std::string_view name, double value);
  void SetString(std::string_view name, std::string_view value);
  void SetBool(std::string_view name, bool value);

  // Sizes, heads, norm and ties; refuses another activation.
  Result<HfHyperparameters> ReadCommon(const HfDefaults& defaults);
  // Base and scaling of the positions, from rope_theta and rope_scaling or from rope_parameters; where the latter has
  // an object for each kind of layer, that of full_attention. `rope_dims` of a head turn. Unsupported, by name, for a
  // kind of scaling that GGUF has no keys for.
  Status ReadRope(int64_t rope_dims, double default_theta = 10000.0, std::string_view theta_key = "rope_theta");
  // How many of a head's dimensions turn: the share that rope_parameters or `old_key` gives, else `default_share`.
  Result<int64_t> RopeDims(int64_t head_dim, std::string_view old_key, double default_share) const;
  // The base of layers with a sliding window, which have no scaling, where they have one of their own: from
  // rope_parameters, or `old_key`.
  Result<double> SlidingTheta(std::string_view old_key, double default_theta) const;
  // Unsupported when the member is there with a value other than `neutral` (a number, or 1 and 0 for true and false).
  Status RefuseUnless(std::string_view name, double neutral) const;
  // Unsupported when layer_types names another kind of layer than layer `i` has by `is_sliding`.
  Status CheckLayerTypes(int64_t num_layers, bool (*is_sliding)(int64_t layer)) const;

  // The results, once all is read.
  std::map<std::string, formats::GgufValue, std::less<>>& values() { return values_; }
  std::vector<HfComputedTensor>& computed() { return computed_; }
  // Tensors, by their names there, that must be in the checkpoint although GGUF files may lack them.
  const std::vector<std::string>& required() const { return required_; }
  void Require(std::string name) { required_.push_back(std::move(name)); }
  const std::string& architecture() const { return architecture_; }

 private:
  // What config.json says of positions, whichever form it has.
  struct RopeFields {
    double theta = 0.0;
    std::string type = "default";
    std::optional<formats::JsonFields> scaling;
  };
  Result<RopeFields> FindRope(std::string_view layer_type, double default_theta, std::string_view theta_key) const;
  Status SetLongRope(const formats::JsonFields& scaling, int64_t rope_dims);
  Status SetYarn(const formats::JsonFields& scaling);
  Status SetLlama3(const formats::JsonFields& scaling, double theta, int64_t rope_dims);
  Result<double> OriginalContext(const formats::JsonFields& scaling) const;

  const formats::HfFolder& folder_;
  std::string architecture_;
  HfTensorRules tensors_;
  std::map<std::string, formats::GgufValue, std::less<>> values_;
  std::vector<HfComputedTensor> computed_;
  std::vector<std::string> required_;
};

// Rules for what the tensors of Llama and most of its kin are called. `interleaved`: GGUF holds the rows of q and k for
// pairs of neighbours. Without lm_head where the output is tied.
std::vector<HfTensorRule> LlamaTensorRules(const HfHyperparameters& params, bool interleaved);

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_KEYS_H_
