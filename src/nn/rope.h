#ifndef ADIT_NN_ROPE_H_
#define ADIT_NN_ROPE_H_

#include <cstdint>
#include <vector>

namespace adit::nn {

enum class RopeScaling : uint8_t {
  kNone,
  kLinear,  // positions divided by factor (Chen et al. 2023)
  kLlama3,  // long wavelengths divided by factor, a smooth step between (Llama 3.1 release, 2024)
  kYarn,    // NTK by parts with an attention factor (Peng et al. 2023)
};

// One way to rotate queries and keys by position.
struct RopeConfig {
  int num_pairs = 0;         // half of the dimensions that turn
  bool interleaved = false;  // pairs (2i, 2i + 1); else (i, i + num_pairs)
  double theta = 10000.0;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1.0;
  double original_context = 0.0;          // kLlama3, kYarn, long_divisors: context length before scaling
  double low_freq_factor = 1.0;           // kLlama3
  double high_freq_factor = 4.0;          // kLlama3
  double beta_fast = 32.0;                // kYarn
  double beta_slow = 1.0;                 // kYarn
  double attention_factor = 0.0;          // multiplies cos and sin; 0: of kYarn 0.1 ln(factor) + 1, of others 1
  std::vector<float> frequency_divisors;  // [num_pairs] or empty: each inverse frequency is divided by its own
  std::vector<float> long_divisors;  // [num_pairs] or empty: instead of those for long sequences (LongRoPE, Ding 2024)
};

// Angles of rotation for any position. Immutable.
class Rope {
 public:
  explicit Rope(RopeConfig config);

  const RopeConfig& config() const { return config_; }
  // Radians per position of each pair, scaling included.
  const std::vector<double>& inverse_frequencies() const { return inverse_frequencies_; }
  // Those of sequences that are longer than what the model was first trained for; the same where the rope has no
  // others.
  const std::vector<double>& long_inverse_frequencies() const {
    return config_.long_divisors.empty() ? inverse_frequencies_ : long_inverse_frequencies_;
  }
  // Multiplies cos and sin.
  double attention_factor() const { return attention_factor_; }

  // cos and sin of one position into [num_pairs] each; `is_long`: by long_inverse_frequencies.
  void Angles(int64_t position, bool is_long, float* cos, float* sin) const;

 private:
  RopeConfig config_;
  std::vector<double> inverse_frequencies_;
  std::vector<double> long_inverse_frequencies_;
  double attention_factor_ = 1.0;
};

}  // namespace adit::nn

#endif  // ADIT_NN_ROPE_H_
