#include <cstdlib>
#include <variant>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/resolve_model.h"
#include "grammar/abandoned.h"

namespace adit::cli {
namespace {

Result<int> RunCommandLine(int argc, const char* const* argv) {
  ADIT_ASSIGN_OR_RETURN(CommandLine line, ParseCommandLine(argc, argv));
  if (line.command) {
    ADIT_RETURN_IF_ERROR(ResolveModels(*line.command));
  }
  if (line.command) return std::visit([](const auto& options) { return Run(options); }, *line.command);
  ADIT_RETURN_IF_ERROR(Stdout().Write(line.text));
  return kExitOk;
}

}  // namespace
}  // namespace adit::cli

int main(int argc, char** argv) {
  adit::cli::OccupyStandardDescriptors();
  const adit::Result<int> exit_code = adit::cli::RunCommandLine(argc, argv);
  const int code = exit_code.ok() ? *exit_code : adit::cli::ReportError(exit_code.status());
  if (adit::grammar::NumAbandonedThreads() > 0) std::_Exit(code);
  return code;
}
