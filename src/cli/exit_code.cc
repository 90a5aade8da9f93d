#include "cli/exit_code.h"

#include <string>

#include "cli/output.h"
#include "cli/printable.h"

namespace adit::cli {

ExitCode ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return kExitOk;
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    case StatusCode::kNotFound:
      return kExitModelNotFound;
    case StatusCode::kResourceExhausted:
      return kExitDoesNotFit;
    case StatusCode::kCorrupt:
    case StatusCode::kUnsupported:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kCancelled:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kIo:
    case StatusCode::kInternal:
      return kExitRuntime;
  }
  return kExitRuntime;
}

Status AsRuntimeError(const Status& status) {
  if (ExitCodeOf(status.code()) == kExitRuntime) return status;
  return Status(StatusCode::kFailedPrecondition, status.message());
}

int ReportError(const Status& status) {
  PrintNote(status.message());
  return ExitCodeOf(status.code());
}

void PrintNote(std::string_view text) {
  // Where stderr cannot be written to there is no one to tell.
  (void)Stderr().Write("adit: " + OneLine(text) + "\n");
}

}  // namespace adit::cli
