#ifndef ADIT_KERNELS_ELEMENTWISE_H_
#define ADIT_KERNELS_ELEMENTWISE_H_

#include <cstddef>
#include <cstdint>

// Argument structs of the operations that work on rows by themselves. Plain data: instruction-set files include this.
namespace adit::kernels {

// out = x / sqrt(mean(x^2) + eps) * weight, for each of num_rows vectors of dim elements (Zhang & Sennrich 2019).
// out may be x.
struct RmsNormArgs {
  const float* x = nullptr;
  int64_t x_stride = 0;           // elements between vectors
  const float* weight = nullptr;  // [dim]
  float eps = 0.0f;
  int64_t num_rows = 0;
  int64_t dim = 0;
  float* out = nullptr;
  int64_t out_stride = 0;
};

// out = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight + bias, for each of num_rows vectors of dim elements
// (Ba et al. 2016). out may be x.
struct LayerNormArgs {
  const float* x = nullptr;
  int64_t x_stride = 0;           // elements between vectors
  const float* weight = nullptr;  // [dim]
  const float* bias = nullptr;    // [dim], or null: none
  float eps = 0.0f;
  int64_t num_rows = 0;
  int64_t dim = 0;
  float* out = nullptr;
  int64_t out_stride = 0;
};

// Rotary position embedding (Su et al. 2021) of one token's heads, in place. Of each head the first 2 * num_pairs
// elements turn: pair i is (x[i], x[i + num_pairs]), or (x[2i], x[2i + 1]) when interleaved; the rest stay.
struct RopeArgs {
  float* x = nullptr;  // [num_heads, head_dim]
  int num_heads = 0;
  int head_dim = 0;
  const float* cos = nullptr;  // [num_pairs], attention factors included
  const float* sin = nullptr;  // [num_pairs]
  int num_pairs = 0;
  bool interleaved = false;
};

enum class Activation : uint8_t {
  kSilu,      // x / (1 + exp(-x))
  kGeluTanh,  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  kGeluErf,   // 0.5 x (1 + erf(x / sqrt(2)))
};

// out = activation(gate) * up, elementwise. out may be gate or up.
struct GluArgs {
  const float* gate = nullptr;
  const float* up = nullptr;
  float* out = nullptr;
  int64_t num_elements = 0;
  Activation activation = Activation::kSilu;
};

// x = activation(x), elementwise.
struct ActivateArgs {
  float* x = nullptr;
  int64_t num_elements = 0;
  Activation activation = Activation::kSilu;
};

// x = cap * tanh(x / cap), elementwise: what is small stays, and nothing passes cap. cap > 0.
struct SoftcapArgs {
  float* x = nullptr;
  int64_t num_elements = 0;
  float cap = 1.0f;
};

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_ELEMENTWISE_H_
