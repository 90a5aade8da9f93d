#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/cpus.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "engine/gguf_export.h"
#include "engine/hf_export.h"

namespace adit::cli {
namespace {

bool WantsFolder(const ConvertOptions& options) {
  if (options.to_folder) return *options.to_folder;
  std::error_code error;
  return options.output.ends_with('/') || std::filesystem::is_directory(options.output, error);
}

Status ConvertToFolder(const ConvertOptions& options, const formats::GgufFile& model,
                       const engine::ExportHooks& hooks) {
  engine::HfExportOptions what;
  if (options.type) {
    what.dtype = ParseDType(*options.type);
    if (what.dtype != DType::kF32 && what.dtype != DType::kF16 && what.dtype != DType::kBF16) {
      return InvalidArgument(
          "convert: no type '{}' for a folder; wanted f32, f16 or bf16, or adit quantize for fewer "
          "bits",
          *options.type);
    }
  }
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team, WorkerTeam::Create(NumAvailableCpus()));
  return engine::WriteHfFolder(model, options.output, what, *team, hooks).status();
}

}  // namespace

Result<int> Run(const ConvertOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> model, OpenModel(options.model));
  ProgressBar bar(Stderr(), "Writing");
  const auto show = [&bar](double share) {
    bar.Update(share);
    return Status();
  };
  const Status written = WantsFolder(options) ? ConvertToFolder(options, *model, {.progress = show})
                                              : engine::ExportGguf(std::move(model), options.output, options.type,
                                                                   options.max_part_bytes, {.progress = show});
  if (!written.ok()) return InsideModel(written);
  return kExitOk;
}

}  // namespace adit::cli
