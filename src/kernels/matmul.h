#ifndef ADIT_KERNELS_MATMUL_H_
#define ADIT_KERNELS_MATMUL_H_

#include <cstddef>
#include <cstdint>

// Argument structs of the matrix product and of what prepares its operands. Plain data: instruction-set files include
// this, and functions are always inlined so that no copy of them, compiled for a newer processor, can be the one that
// the linker keeps.
//
// Weights are packed once into panels of `panel_rows` output rows; in a panel the rows are lanes of a vector. Each lane
// adds its products in the order of k, whatever the number of tokens and however panels are shared out: the same bits
// always.
namespace adit::kernels {

// What a weight type multiplies with.
enum class ActivationFormat : uint8_t {
  kF32,   // float rows
  kBF16,  // float rows, which the product rounds to BF16
  kQ8,    // 8-bit codes with a scale for each 32 columns: integer dot products
};

// Activations of num_tokens rows.
struct ActivationView {
  const float* f32 = nullptr;     // [num_tokens, num_cols]; null when no product reads it
  int64_t f32_stride = 0;         // elements between rows
  const std::byte* q8 = nullptr;  // [num_tokens] rows as quantize_q8 writes them; null when no product reads it
  int64_t q8_stride = 0;          // bytes between rows, a multiple of 64
};

struct PackArgs {
  const std::byte* rows = nullptr;  // the matrix as the file holds it: [num_rows] rows of row_bytes; any alignment
  size_t row_bytes = 0;
  int64_t num_rows = 0;         // n; rows beyond it in the last panel are packed as zeros
  int64_t num_cols = 0;         // k
  std::byte* panels = nullptr;  // [num_panels, panel_bytes(num_cols)], 64-byte aligned
};

// Kernels of block types that take many tokens arrange the activations of a chunk for a group of panels at a time
// (generic/matmul_q8.h). With fewer panels in a call that work is done again more often than it need be, and with other
// numbers of tokens a part of a chunk is left over.
inline constexpr int kMatmulChunkTokens = 48;
inline constexpr int kMatmulGroupPanels = 12;

struct MatmulArgs {
  const std::byte* weights = nullptr;  // packed panels (or file rows where the type has no pack function)
  int64_t num_rows = 0;                // n, outputs
  int64_t num_cols = 0;                // k
  ActivationView activations;
  // What the codes of `activations` leave of them, as codes of their own: q8 alone is set, or nothing. Their products
  // are added to the same sums.
  ActivationView second_terms;
  int64_t num_tokens = 0;       // m
  const float* bias = nullptr;  // [num_rows] or null; added after the whole sum
  float* out = nullptr;         // [num_tokens, num_rows]
  int64_t out_stride = 0;       // elements between rows of out
  bool accumulate = false;      // out += product instead of out = product
};

// How one weight type is multiplied by one kernel set.
struct WeightKernels {
  ActivationFormat activation = ActivationFormat::kF32;
  int panel_rows = 1;
  // Bytes of a packed panel, a multiple of 64 where pack is not null.
  size_t (*panel_bytes)(int64_t num_cols) noexcept = nullptr;
  // Packs panels [panel_begin, panel_end). Null: the file's rows are read in place.
  void (*pack)(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept = nullptr;
  // Outputs of panels [panel_begin, panel_end) for all tokens. Null: this set has no kernel for the type.
  void (*matmul)(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept = nullptr;
};

// One row of Q8 activations: 8-bit codes, then their scales, then the sums of the codes. A block is 32 columns:
//   int8_t  codes[num_cols]       round to nearest even of x / scale, in -127..127
//   float   scales[num_cols / 32] largest |x| of the block / 127; 0 for a block of zeros
//   int32_t sums[num_cols / 16]   sum of 16 codes
//   uint8_t coded[num_cols / 256] bit i: whether block i of these eight has codes other than 0; the last byte may have
//                                 fewer
// A block with an infinity or a NaN has codes 0 and a scale that is not finite: its products are NaN.
// num_cols is a multiple of 32. Each part starts at a multiple of 64 bytes.
[[gnu::always_inline]] constexpr int64_t Q8ScalesOffset(int64_t num_cols) { return (num_cols + 63) / 64 * 64; }
[[gnu::always_inline]] constexpr int64_t Q8SumsOffset(int64_t num_cols) {
  return Q8ScalesOffset(num_cols) + (num_cols / 32 * 4 + 63) / 64 * 64;
}
[[gnu::always_inline]] constexpr int64_t Q8CodedOffset(int64_t num_cols) {
  return Q8SumsOffset(num_cols) + (num_cols / 16 * 4 + 63) / 64 * 64;
}
[[gnu::always_inline]] constexpr int64_t Q8RowBytes(int64_t num_cols) {
  return Q8CodedOffset(num_cols) + ((num_cols + 255) / 256 + 63) / 64 * 64;
}

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_MATMUL_H_
