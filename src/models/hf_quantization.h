#ifndef ADIT_MODELS_HF_QUANTIZATION_H_
#define ADIT_MODELS_HF_QUANTIZATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/json_fields.h"

namespace adit::models {

// How the matrices of a quantised checkpoint are held: what quantization_config of config.json says.
struct HfQuantization {
  enum class Method : uint8_t {
    kGptq,       // NAME.qweight [in * bits / 32, out], qzeros, scales [groups, out], g_idx [in]
    kAwq,        // NAME.qweight [in, out / 8] in the order of "gemm", qzeros [groups, out / 8], scales [groups, out]
    kPackedInt,  // compressed-tensors: NAME.weight_packed [out, in / 8], weight_scale, weight_zero_point, weight_shape
    kInt8,       // NAME.weight [out, in], weight_scale of each row, or of all
    kFp8,        // NAME.weight [out, in], weight_scale of each row or of all, or weight_scale_inv of blocks
  };
  Method method = Method::kGptq;
  int bits = 4;
  int64_t group_size = 128;     // columns that share a scale; 0: all of a row
  bool zeros_less_one = false;  // GPTQ checkpoints of version 1 hold zero points less one
  bool e5m2 = false;            // kFp8: of E5M2, not of E4M3
  int64_t block_rows = 0;       // kFp8 with scales of blocks: their size
  int64_t block_cols = 0;
};

// Nothing where there is no quantization_config. Unsupported, by name, for a method or a setting that this build does
// not read; Corrupt for a broken one.
Result<std::optional<HfQuantization>> ReadHfQuantization(const formats::JsonFields& config);

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_QUANTIZATION_H_
