#include "quant/folder_scheme.h"

#include <algorithm>

#include "base/error.h"
#include "quant/layer_rounder.h"

namespace adit::quant {
namespace {

using models::HfQuantization;
using Method = HfQuantization::Method;

struct FolderTypeRow {
  std::string_view name;
  int bits;
  bool is_fp8 = false;
  bool rounds_activations = false;  // to whole numbers
  int64_t block = 0;                // of FP8: rows and columns that share a scale
  bool per_tensor = false;
  bool e5m2 = false;
};

constexpr FolderTypeRow kFolderTypes[] = {
    {"W2A16", 2},
    {"W3A16", 3},
    {"W4A16", 4},
    {"W8A16", 8},
    {.name = "W8A8", .bits = 8, .rounds_activations = true},
    {.name = "FP8", .bits = 8, .is_fp8 = true},
    {.name = "FP8_TENSOR", .bits = 8, .is_fp8 = true, .per_tensor = true},
    {.name = "FP8_BLOCK", .bits = 8, .is_fp8 = true, .block = 128},
    {.name = "FP8_E5M2", .bits = 8, .is_fp8 = true, .block = 128, .e5m2 = true},
    {.name = "FP8_E5M2_ROW", .bits = 8, .is_fp8 = true, .e5m2 = true},
    {.name = "FP8_E5M2_TENSOR", .bits = 8, .is_fp8 = true, .per_tensor = true, .e5m2 = true},
};

const FolderTypeRow* FindFolderType(std::string_view name) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  const auto* found = std::ranges::find_if(
      kFolderTypes, [&](const FolderTypeRow& row) { return std::ranges::equal(name, row.name, {}, upper); });
  return found == std::end(kFolderTypes) ? nullptr : found;
}

// The formats that hold the type, the usual one first.
std::string FormatsOf(const FolderTypeRow& row) {
  if (row.block > 0 || row.e5m2) return "fp8";
  if (row.is_fp8 || row.rounds_activations) return "compressed-tensors";
  if (row.bits < 4) return "gptq";
  return row.bits == 4 ? "compressed-tensors, gptq, awq" : "compressed-tensors, gptq";
}

Result<std::string> FormatOf(const FolderRequest& request, const FolderTypeRow& row) {
  const std::string formats = FormatsOf(row);
  if (!request.format) return formats.substr(0, formats.find(','));
  if (formats.find(*request.format) != std::string::npos) return *request.format;
  return InvalidArgument("quantize: --format {} does not hold {}; wanted {}", *request.format, row.name, formats);
}

// Blocks of Fp8 are of 32 columns of a row; other rows are rounded to the nearest as they are written.
bool FitsFp8Blocks(const formats::TensorInfo& tensor) {
  return InputOf(tensor.name) && tensor.rank == 2 && tensor.row_elements() % Traits(DType::kFp8).block_elements == 0;
}

}  // namespace

bool IsFolderType(std::string_view name) { return FindFolderType(name) != nullptr; }

std::string FolderTypeNames() {
  std::string names;
  for (const FolderTypeRow& row : kFolderTypes) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

Result<FolderScheme> FolderSchemeOf(const FolderRequest& request) {
  const FolderTypeRow& row = *FindFolderType(request.type);
  ADIT_ASSIGN_OR_RETURN(const std::string format, FormatOf(request, row));
  if (request.group_size % 32 != 0) {
    return InvalidArgument("quantize: --group-size {}: wanted a multiple of 32, or 0 for whole rows",
                           request.group_size);
  }
  if (request.static_inputs && (row.block > 0 || row.e5m2 || (!row.is_fp8 && !row.rounds_activations))) {
    return InvalidArgument("quantize: --activations static is for W8A8, FP8 and FP8_TENSOR; {} has no place for it",
                           row.name);
  }
  FolderScheme out;
  out.packing.static_inputs = request.static_inputs;
  out.rounds_activations = row.rounds_activations;
  HfQuantization& quantization = out.packing.quantization;
  quantization.bits = row.bits;
  const bool has_groups = !row.is_fp8 && !row.rounds_activations;
  quantization.group_size = has_groups ? request.group_size : 0;
  const bool is_awq = format == "awq";
  if (request.asymmetric && row.bits == 8) {
    return InvalidArgument("quantize: --asymmetric is for 2 to 4 bits; {} is written with the zero in the middle",
                           row.name);
  }
  if (row.is_fp8) {
    quantization.method = Method::kFp8;
    quantization.block_rows = quantization.block_cols = row.block;
    quantization.e5m2 = row.e5m2;
    out.packing.scale_per_tensor = row.per_tensor;
    if (!row.e5m2) out.fp8 = {.rows = row.per_tensor ? 0 : std::max<int64_t>(1, row.block), .cols = row.block};
    return out;
  }
  quantization.method = is_awq                   ? Method::kAwq
                        : format == "gptq"       ? Method::kGptq
                        : row.rounds_activations ? Method::kInt8
                                                 : Method::kPackedInt;
  quantization.zeros_less_one = format == "gptq";
  out.packing.symmetric = !is_awq && !request.asymmetric;
  out.groups = GroupScales{.bits = row.bits,
                           .group_size = quantization.group_size,
                           .symmetric = out.packing.symmetric,
                           .least_zero = quantization.zeros_less_one ? 1 : 0,
                           .half_scales = row.bits < 8 || format == "gptq"};
  return out;
}

bool IsLayerMatrix(const formats::TensorInfo& tensor) {
  return tensor.name.starts_with("blk.") && formats::IsWeightMatrix(tensor);
}

Result<std::vector<formats::TensorRetyping>> FolderRetypings(const FolderScheme& scheme, const formats::GgufFile& model,
                                                             bool gptq, bool scales_columns) {
  std::vector<formats::TensorRetyping> out;
  for (const formats::TensorInfo& tensor : model.tensors()) {
    formats::TensorRetyping retyping{.dtype = tensor.dtype};
    if (scheme.groups && IsLayerMatrix(tensor)) {
      const models::HfMatrix matrix{.module = std::string(tensor.name.substr(0, tensor.name.rfind(".weight"))),
                                    .rows = tensor.shape[0],
                                    .cols = tensor.shape[1]};
      ADIT_RETURN_IF_ERROR(models::HfPackedPlans(scheme.packing, matrix).status());
      retyping.dtype = scheme.groups->dtype();
      retyping.groups = &*scheme.groups;
    } else if (gptq && scheme.fp8 && FitsFp8Blocks(tensor)) {
      retyping.dtype = DType::kFp8;
    } else if (scales_columns && LayerRounder::MayScale(tensor.name)) {
      retyping.dtype = DType::kF32;
    }
    out.push_back(retyping);
  }
  return out;
}

}  // namespace adit::quant
