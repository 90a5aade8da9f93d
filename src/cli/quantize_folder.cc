// adit quantize to a Hugging Face folder.
#include <fmt/core.h>

#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "base/cpus.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/exit_code.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/quantize_run.h"
#include "cli/signals.h"
#include "cli/window_run.h"
#include "engine/hf_export.h"
#include "quant/folder_scheme.h"

namespace adit::cli {
namespace {

Status CheckFolderOptions(const QuantizeOptions& options, const formats::GgufFile& model,
                          const quant::FolderScheme& type) {
  if (options.mix_file || !options.rules.empty() || options.pure || options.importance_file || options.dry_run) {
    return InvalidArgument(
        "quantize: --mix, --tensor-type, --pure, --imatrix and --dry-run are for GGUF types; {} is one type for all "
        "matrices of layers",
        options.scheme);
  }
  if (options.smooth && !type.rounds_activations) {
    return InvalidArgument("quantize: --method smoothquant is for W8A8, where activations are rounded; {} keeps them",
                           options.scheme);
  }
  if (!type.groups && options.awq) {
    return InvalidArgument(
        "quantize: --method {} is for whole numbers; what FP8 loses grows with each weight, so that larger ones are no "
        "finer. --method gptq is for FP8 too",
        options.gptq ? "awq-gptq" : "awq");
  }
  if (!type.groups && !type.fp8 && options.gptq) {
    return InvalidArgument("quantize: {} is rounded to the nearest value alone; leave out --method", options.scheme);
  }
  for (const formats::TensorInfo& tensor : model.tensors()) {
    if (options.requantize || !quant::IsLayerMatrix(tensor) || Traits(tensor.dtype).block_elements == 1) continue;
    return InvalidArgument(
        "quantize: '{}' of '{}' is {} already, and rounding it again adds errors; take the model in F16, BF16 or F32, "
        "or give --allow-requantize",
        tensor.name, options.model, Traits(tensor.dtype).name);
  }
  return Status();
}

Status TellFolder(size_t before_bytes, size_t after_bytes) {
  return Stdout().Write(fmt::format("{:.1f} MB of weights, from {:.1f} MB\n", static_cast<double>(after_bytes) / 1e6,
                                    static_cast<double>(before_bytes) / 1e6));
}

}  // namespace

Result<int> QuantizeToFolder(const QuantizeOptions& options, std::unique_ptr<formats::GgufFile> model) {
  ADIT_ASSIGN_OR_RETURN(const quant::FolderScheme type,
                        quant::FolderSchemeOf({.type = options.scheme,
                                               .format = options.format,
                                               .group_size = options.group_size,
                                               .asymmetric = options.asymmetric,
                                               .static_inputs = options.static_inputs}));
  ADIT_RETURN_IF_ERROR(CheckFolderOptions(options, *model, type));
  const bool scales_columns = options.awq || options.smooth;
  ADIT_ASSIGN_OR_RETURN(const std::vector<formats::TensorRetyping> retypings,
                        quant::FolderRetypings(type, *model, options.gptq, scales_columns));
  size_t before_bytes = 0;
  for (const formats::TensorInfo& tensor : model->tensors()) before_bytes += tensor.size_bytes();
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team,
                        WorkerTeam::Create(options.threads.value_or(NumAvailableCpus())));
  ProgressBar bar(Stderr(), "Quantising");
  const InterruptScope interrupts{SIGINT, SIGTERM};
  ADIT_ASSIGN_OR_RETURN(const RoundedModel rounded,
                        RoundModel(options, std::move(model), retypings, &type, bar, *team));
  const Result<size_t> written = engine::WriteHfFolder(
      *rounded.model, options.output, {.packing = type.packing, .dtype = std::nullopt}, *team, rounded.hooks);
  if (written.status().code() == StatusCode::kCancelled) return Ended(written.status());
  if (!written.ok()) return InsideModel(written.status());
  rounded.finished();
  ADIT_RETURN_IF_ERROR(TellFolder(before_bytes, *written));
  return kExitOk;
}

}  // namespace adit::cli
