#include "cli/quantize_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/signals.h"
#include "formats/retyped_model.h"
#include "kernels/dispatch.h"
#include "quant/scheme.h"
#include "quant/target_mix.h"
#include "tensor/encode.h"

namespace adit::cli {
namespace {

// Types of GGUF that are good at their size; rows that are no whole number of blocks of 256 get others of their size.
constexpr DType kUsualCandidates[] = {DType::kQ2_K, DType::kQ3_K, DType::kIQ4_XS, DType::kQ4_K,
                                      DType::kQ5_K, DType::kQ6_K, DType::kQ8_0,   DType::kBF16};

Result<std::vector<DType>> CandidatesOf(const QuantizeQualityOptions& quality) {
  if (quality.types.empty()) return std::vector<DType>(std::begin(kUsualCandidates), std::end(kUsualCandidates));
  std::vector<DType> types;
  for (const std::string& name : quality.types) {
    const std::optional<DType> dtype = ParseDType(name);
    if (!dtype || EncodeFor(*dtype) == nullptr) {
      return InvalidArgument("quantize: --types: no type '{}' that tensors can be made in; Q4_K and Q8_0 are such",
                             name);
    }
    types.push_back(*dtype);
  }
  return types;
}

}  // namespace

Result<std::unique_ptr<formats::GgufFile>> OpenWide(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> model, OpenModel(path));
  std::vector<formats::TensorRetyping> types;
  bool any = false;
  for (const formats::TensorInfo& tensor : model->tensors()) {
    const bool is_quantized = Traits(tensor.dtype).block_elements > 1;
    types.push_back({.dtype = is_quantized ? DType::kF16 : tensor.dtype});
    any |= is_quantized;
  }
  if (!any) return model;
  return formats::Retyped(std::move(model), types);
}

Result<std::vector<DType>> TargetTypes(const QuantizeOptions& options, const ChosenTypes& chosen,
                                       const std::vector<std::span<const float>>& importance,
                                       const quant::CalibrationText& text, WorkerTeam& team) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> model, OpenWide(options.model));
  ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* kernels, kernels::SelectKernels("auto"));
  quant::TargetOptions target{.bits_per_weight = *options.quality.target_bpw,
                              .candidates = {},
                              .types = chosen.types,
                              .is_free = chosen.is_free,
                              .importance = importance,
                              .measuring = {}};
  ADIT_ASSIGN_OR_RETURN(target.candidates, CandidatesOf(options.quality));
  ProgressBar bar(Stderr(), "Measuring");
  target.measuring.progress = [&bar](double share) -> Status {
    if (PendingInterrupt() != 0) return Cancelled("quantize: interrupted");
    bar.Update(share);
    return Status();
  };
  const Result<quant::TargetMix> mix = quant::SolveTargetMix(*model, text, target, {*kernels, team});
  if (!mix.ok()) return Status(mix.status().code(), "quantize: " + mix.status().message());
  ADIT_RETURN_IF_ERROR(Stdout().Write(fmt::format("mix of {:.3f} bits a weight; KL divergence predicted: {:.4f} nats\n",
                                                  mix->bits_per_weight, mix->predicted_kld)));
  return mix->types;
}

std::optional<uint64_t> FileTypeOf(const formats::GgufFile& model, const std::vector<DType>& types) {
  std::map<DType, size_t> bytes;
  for (size_t i = 0; i < types.size(); ++i) {
    const formats::TensorInfo& tensor = model.tensors()[i];
    bytes[types[i]] += RowBytes(types[i], tensor.row_elements()) * static_cast<size_t>(tensor.num_rows());
  }
  if (bytes.empty()) return std::nullopt;
  const auto most = std::ranges::max_element(bytes, [](const auto& a, const auto& b) { return a.second < b.second; });
  const quant::Scheme* scheme = quant::FindScheme(Traits(most->first).name);
  return scheme == nullptr ? std::nullopt : std::optional(scheme->file_type);
}

}  // namespace adit::cli
