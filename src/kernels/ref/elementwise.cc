#include <cmath>

#include "base/check.h"
#include "kernels/ref/kernels.h"

namespace adit::kernels::ref {
namespace {

// 1 / sqrt(mean(x^2) + eps); element i goes to partial sum i % 8, which are added in order of their index.
float InverseRms(const float* x, int64_t dim, float eps) {
  float sums[8] = {};
  for (int64_t i = 0; i < dim; ++i) sums[i % 8] += x[i] * x[i];
  float total = 0.0f;
  for (const float sum : sums) total += sum;
  return 1.0f / std::sqrt(total / static_cast<float>(dim) + eps);
}

// The mean; element i goes to partial sum i % 8, which are added in order of their index.
float Mean(const float* x, int64_t dim) {
  float sums[8] = {};
  for (int64_t i = 0; i < dim; ++i) sums[i % 8] += x[i];
  float total = 0.0f;
  for (const float sum : sums) total += sum;
  return total / static_cast<float>(dim);
}

float Silu(float x) { return x / (1.0f + std::exp(-x)); }

// 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)), which has no cancellation where tanh(u) is near -1.
float GeluTanh(float x) {
  constexpr float kSqrtTwoOverPi = 0.797884561f;
  const float u = kSqrtTwoOverPi * (x + 0.044715f * x * x * x);
  return x / (1.0f + std::exp(-2.0f * u));
}

// 0.5 x (1 + erf(x / sqrt(2))) = 0.5 x erfc(-x / sqrt(2)), which has no cancellation where erf is near -1.
float GeluErf(float x) {
  constexpr float kSqrtHalf = 0.707106781f;
  return 0.5f * x * std::erfc(-kSqrtHalf * x);
}

float (*FunctionOf(Activation activation))(float) {
  switch (activation) {
    case Activation::kSilu:
      return Silu;
    case Activation::kGeluTanh:
      return GeluTanh;
    case Activation::kGeluErf:
      return GeluErf;
  }
  return nullptr;
}

}  // namespace

void RmsNorm(const RmsNormArgs& args) noexcept {
  ADIT_DCHECK(args.dim > 0);
  for (int64_t row = 0; row < args.num_rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* out = args.out + row * args.out_stride;
    const float inverse_rms = InverseRms(x, args.dim, args.eps);
    for (int64_t i = 0; i < args.dim; ++i) out[i] = x[i] * inverse_rms * args.weight[i];
  }
}

// The squares are those of x - mean, so that a large mean costs no digits.
void LayerNorm(const LayerNormArgs& args) noexcept {
  ADIT_DCHECK(args.dim > 0);
  for (int64_t row = 0; row < args.num_rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* out = args.out + row * args.out_stride;
    const float mean = Mean(x, args.dim);
    for (int64_t i = 0; i < args.dim; ++i) out[i] = x[i] - mean;
    const float inverse = InverseRms(out, args.dim, args.eps);
    for (int64_t i = 0; i < args.dim; ++i) {
      out[i] = out[i] * inverse * args.weight[i] + (args.bias == nullptr ? 0.0f : args.bias[i]);
    }
  }
}

void Rope(const RopeArgs& args) noexcept {
  ADIT_DCHECK(2 * args.num_pairs <= args.head_dim);
  const int step = args.interleaved ? 2 : 1;
  const int partner = args.interleaved ? 1 : args.num_pairs;
  for (int head = 0; head < args.num_heads; ++head) {
    float* x = args.x + static_cast<int64_t>(head) * args.head_dim;
    for (int i = 0; i < args.num_pairs; ++i) {
      float& a = x[step * i];
      float& b = x[step * i + partner];
      const float turned_a = a * args.cos[i] - b * args.sin[i];
      const float turned_b = b * args.cos[i] + a * args.sin[i];
      a = turned_a;
      b = turned_b;
    }
  }
}

void Glu(const GluArgs& args) noexcept {
  float (*const activation)(float) = FunctionOf(args.activation);
  for (int64_t i = 0; i < args.num_elements; ++i) args.out[i] = activation(args.gate[i]) * args.up[i];
}

void Activate(const ActivateArgs& args) noexcept {
  float (*const activation)(float) = FunctionOf(args.activation);
  for (int64_t i = 0; i < args.num_elements; ++i) args.x[i] = activation(args.x[i]);
}

void Softcap(const SoftcapArgs& args) noexcept {
  ADIT_DCHECK(args.cap > 0.0f);
  for (int64_t i = 0; i < args.num_elements; ++i) args.x[i] = args.cap * std::tanh(args.x[i] / args.cap);
}

}  // namespace adit::kernels::ref
