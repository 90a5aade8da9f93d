#ifndef ADIT_MODELS_GGUF_KEYS_H_
#define ADIT_MODELS_GGUF_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf.h"
#include "models/model_spec.h"

namespace adit::models {

// What all decoders of the Llama kind say of themselves in a GGUF file, read and checked once for every family.
struct GgufHyperparameters {
  int64_t num_layers = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;
  int64_t ffn_dim = 0;
  int k_dim = 0;
  int v_dim = 0;
  int rope_dims = 0;  // dimensions of a head that turn
};

// Reads the keys `<architecture>.<name>` of one file.
class GgufKeys {
 public:
  GgufKeys(const formats::GgufFile& file, std::string_view architecture) : file_(file), prefix_(architecture) {}

  const formats::GgufFile& file() const { return file_; }
  std::string Key(std::string_view name) const { return prefix_ + "." + std::string(name); }
  bool Has(std::string_view name) const { return file_.metadata().Has(Key(name)); }

  // An integer in [low, high]; Corrupt, naming the key, outside of it or when absent.
  Result<int64_t> Int(std::string_view name, int64_t low, int64_t high) const;
  Result<int64_t> IntOr(std::string_view name, int64_t fallback, int64_t low, int64_t high) const;
  // A finite number in [low, high].
  Result<double> FloatOr(std::string_view name, double fallback, double low, double high) const;
  Result<bool> BoolOr(std::string_view name, bool fallback) const;
  // A number above 0; `fallback` where the key is absent or 0, as files say that there is none.
  Result<float> MultiplierOr(std::string_view name, float fallback) const;

  // Fills what ModelSpec says of the whole model (sizes, norms), and returns the rest.
  Result<GgufHyperparameters> ReadCommon(ModelSpec& spec, nn::NormKind norm_kind = nn::NormKind::kRms) const;
  // Theta, scaling and divisors of the file's rope, LongRoPE's too.
  Result<nn::RopeConfig> ReadRope(const GgufHyperparameters& params, bool interleaved) const;
  // The tensor `name` of num_pairs finite numbers above 0.
  Result<std::vector<float>> ReadDivisors(std::string_view name, int num_pairs) const;
  // Unsupported when one of `names` is there with a value other than `neutral`: this build would ignore it.
  Status RefuseUnless(std::string_view name, double neutral) const;
  // Unsupported when the file has the key at all.
  Status RefuseIfThere(std::string_view name) const;

 private:
  // The divisors of LongRoPE, where the file has them.
  Status ReadLongRope(nn::RopeConfig& rope) const;

  const formats::GgufFile& file_;
  std::string prefix_;
};

// Attention of `params` over all positions, scaled by 1 / sqrt(k_dim), turned by rope 0, and a SiLU feed-forward.
LayerSpec PlainLayer(const GgufHyperparameters& params);

}  // namespace adit::models

#endif  // ADIT_MODELS_GGUF_KEYS_H_
