#include "adit/version.h"

#include <string>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace adit::cli {

Result<int> Run(const VersionOptions&) {
  ADIT_RETURN_IF_ERROR(Stdout().Write(std::string("adit ") + kVersion + "\n"));
  return kExitOk;
}

}  // namespace adit::cli
