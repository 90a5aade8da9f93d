#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kernels/ref/kernels.h"

// out[t, n] = sum over k of weights[n, k] * x[t, k], in float32; weights are read as the file holds them. A panel is
// one row.
//
// Order of summation: product k is added to partial sum k % 8, in the order of k, and at the end the partial sums s are
// added as ((s0+s4) + (s2+s6)) + ((s1+s5) + (s3+s7)). Each product and each addition rounds. So the bits of an output
// depend on its weights and its activations alone.
//
// Bytes moved: the weights once for every kTokenTile tokens. Operations: 2 for each weight and token.
namespace adit::kernels::ref {
namespace {

// Elements decoded at a time: a multiple of every type's block and of the number of partial sums.
constexpr int64_t kDecodeChunk = 256;
// Tokens that a decoded piece of weights serves: their partial sums, 2 KB, stay in the first-level cache.
constexpr int64_t kTokenTile = 64;

struct PartialSums {
  float sums[8];

  void AddProducts(const float* w, const float* x, int64_t n) {
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
      for (int j = 0; j < 8; ++j) sums[j] += w[k + j] * x[k + j];
    }
    for (int j = 0; k + j < n; ++j) sums[j] += w[k + j] * x[k + j];
  }
  float Total() const {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }
};

// The products of one weight row with up to kTokenTile tokens.
void RowTimesTokens(DType dtype, const MatmulArgs& args, int64_t row, int64_t token_begin,
                    int64_t num_tokens) noexcept {
  const DTypeTraits& traits = Traits(dtype);
  const ActivationView& x = args.activations;
  const std::byte* weights = args.weights + static_cast<size_t>(row) * RowBytes(dtype, args.num_cols);
  PartialSums sums[kTokenTile] = {};
  float decoded[kDecodeChunk];
  for (int64_t k = 0; k < args.num_cols; k += kDecodeChunk) {
    const int64_t n = std::min(kDecodeChunk, args.num_cols - k);
    traits.decode(weights + RowBytes(dtype, k), decoded, n);
    for (int64_t t = 0; t < num_tokens; ++t) {
      sums[t].AddProducts(decoded, x.f32 + (token_begin + t) * x.f32_stride + k, n);
    }
  }
  for (int64_t t = 0; t < num_tokens; ++t) {
    float* out = args.out + (token_begin + t) * args.out_stride + row;
    float total = sums[t].Total();
    if (args.bias != nullptr) total += args.bias[row];
    *out = args.accumulate ? *out + total : total;
  }
}

template <DType kType>
size_t PanelBytes(int64_t num_cols) noexcept {
  return RowBytes(kType, num_cols);
}

template <DType kType>
void Matmul(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  ADIT_DCHECK(args.num_cols % Traits(kType).block_elements == 0);
  ADIT_DCHECK(panel_begin >= 0 && panel_end <= args.num_rows);
  for (int64_t row = panel_begin; row < panel_end; ++row) {
    for (int64_t t = 0; t < args.num_tokens; t += kTokenTile) {
      RowTimesTokens(kType, args, row, t, std::min(kTokenTile, args.num_tokens - t));
    }
  }
}

template <DType kType>
constexpr WeightKernels KernelsOf() {
  return {.activation = ActivationFormat::kF32,
          .panel_rows = 1,
          .panel_bytes = PanelBytes<kType>,
          .pack = nullptr,
          .matmul = Matmul<kType>};
}

template <size_t... kTypes>
constexpr std::array<WeightKernels, kNumDTypes> AllKernels(std::index_sequence<kTypes...>) {
  return {KernelsOf<static_cast<DType>(kTypes)>()...};
}

constexpr std::array<WeightKernels, kNumDTypes> kWeights = AllKernels(std::make_index_sequence<kNumDTypes>());

}  // namespace

const std::array<WeightKernels, kNumDTypes>& Weights() { return kWeights; }

}  // namespace adit::kernels::ref
