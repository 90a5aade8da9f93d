#ifndef ADIT_MODELS_HF_PACKING_H_
#define ADIT_MODELS_HF_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/json.h"
#include "formats/model_folder_writer.h"
#include "models/hf_quantization.h"
#include "tensor/dtype.h"

// What HfQuantizedMatrix reads, written: the tensors that a matrix becomes in a quantised checkpoint.
namespace adit::models {

// How matrices are held in a checkpoint that is written.
struct HfPacking {
  HfQuantization quantization;
  bool symmetric = true;          // whether all zero points are the middle code
  bool scale_per_tensor = false;  // kFp8 without blocks: one scale for all rows, not one for each
  bool static_inputs = false;     // kInt8, kFp8: the scale of what comes in is fixed, not found for each token
};

// A matrix to pack, in the order of rows that the checkpoint has.
struct HfMatrix {
  std::string module;  // "model.layers.0.mlp.up_proj"
  int64_t rows = 0;    // outputs
  int64_t cols = 0;
  float largest_input = 0.0f;    // where inputs are static: the magnitude that gets the largest code
  DType fp8_rows = DType::kF32;  // for kFp8: what its rows are, floats or Fp8
};

// The tensors that it becomes, in the order in which PackHfMatrix gives their contents. InvalidArgument, by the module,
// where rows or columns are no whole number of groups or words.
Result<std::vector<formats::SafetensorsPlan>> HfPackedPlans(const HfPacking& packing, const HfMatrix& matrix);

// Their contents. `blocks` are all rows: of Int4 for 2 to 4 bits, of Int8 for 8, each group's blocks with one scale and
// zero; for kFp8 of matrix.fp8_rows, whose blocks' scales stay where all that share one have the same. Corrupt, by the
// module, where weights are not finite; Internal where the blocks of a group differ.
Result<std::vector<std::vector<std::byte>>> PackHfMatrix(const HfPacking& packing, const HfMatrix& matrix,
                                                         std::span<const std::byte> blocks);

// The member quantization_config of config.json. `unquantized` are modules that have matrices and stay as they are,
// like "lm_head".
formats::Json HfQuantizationConfig(const HfPacking& packing, std::span<const std::string> unquantized);

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_PACKING_H_
