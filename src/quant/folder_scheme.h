#ifndef ADIT_QUANT_FOLDER_SCHEME_H_
#define ADIT_QUANT_FOLDER_SCHEME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf.h"
#include "formats/retyped_model.h"
#include "models/hf_packing.h"
#include "quant/fp8_scales.h"
#include "tensor/encode_groups.h"

// Types of matrices that are written as Hugging Face folders, as others are mixes of a GGUF file's types (scheme.h).
namespace adit::quant {

// What a folder of a type holds.
struct FolderScheme {
  models::HfPacking packing;
  std::optional<GroupScales> groups;  // none for FP8
  std::optional<Fp8Blocks> fp8;       // of E4M3
  bool rounds_activations = false;    // to whole numbers, while it runs
};

// What is asked for.
struct FolderRequest {
  std::string type;                   // "W4A16", in any case
  std::optional<std::string> format;  // "gptq"; unset: the usual one of the type
  int64_t group_size = 128;           // columns that share a scale; 0: all of a row
  bool asymmetric = false;
  bool static_inputs = false;
};

// Whether there is such a type.
bool IsFolderType(std::string_view name);
// "W2A16, W3A16, ...", for messages.
std::string FolderTypeNames();

// InvalidArgument for a format that does not hold the type, a group size that no format has, or a setting that it has
// no use for. Precondition: IsFolderType.
Result<FolderScheme> FolderSchemeOf(const FolderRequest& request);

// Whether a folder's type is for the tensor: a matrix of a layer.
bool IsLayerMatrix(const formats::TensorInfo& tensor);

// How the tensors of `model` are to be read, in its order: whole numbers are made then, FP8 is made out of floats when
// it is written, or, with `gptq`, before. `scales_columns`: norms and biases become F32, since columns are scaled.
// Borrows scheme.groups. As HfPackedPlans for matrices that do not fit.
Result<std::vector<formats::TensorRetyping>> FolderRetypings(const FolderScheme& scheme, const formats::GgufFile& model,
                                                             bool gptq, bool scales_columns);

}  // namespace adit::quant

#endif  // ADIT_QUANT_FOLDER_SCHEME_H_
