#include "adit/version.h"

#include <fmt/format.h>

#include <string>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/revision.h"

namespace adit::cli {

std::string BuildName() {
  const std::string_view revision = Revision();
  return revision.empty() ? kVersion : fmt::format("{}-{}", kVersion, revision);
}

Result<int> Run(const VersionOptions&) {
  std::string text = fmt::format("adit {}", kVersion);
  if (const std::string_view revision = Revision(); !revision.empty()) text += fmt::format(" ({})", revision);
  ADIT_RETURN_IF_ERROR(Stdout().Write(text + "\n"));
  return kExitOk;
}

}  // namespace adit::cli
