#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "engine/gguf_export.h"

namespace adit::cli {

Result<int> Run(const ConvertOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> model, OpenModel(options.model));
  ProgressBar bar(Stderr(), "Writing");
  const auto show = [&bar](double share) {
    bar.Update(share);
    return Status();
  };
  const Status written = engine::ExportGguf(std::move(model), options.output, options.type, {.progress = show});
  if (!written.ok()) return InsideModel(written);
  return kExitOk;
}

}  // namespace adit::cli
