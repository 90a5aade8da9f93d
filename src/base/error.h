#ifndef ADIT_BASE_ERROR_H_
#define ADIT_BASE_ERROR_H_

#include <fmt/core.h>

#include <utility>

#include "adit/status.h"

// One function for each error code: Corrupt("gguf: {}: version {}, this build reads 2 and 3", path, version).
// A message says what, where, what was found and what would be right.
namespace adit {

#define ADIT_DEFINE_ERROR_(name)                                                          \
  template <typename... Args>                                                             \
  Status name(fmt::format_string<Args...> format, Args&&... args) {                       \
    return Status(StatusCode::k##name, fmt::format(format, std::forward<Args>(args)...)); \
  }

ADIT_DEFINE_ERROR_(InvalidArgument)
ADIT_DEFINE_ERROR_(NotFound)
ADIT_DEFINE_ERROR_(Corrupt)
ADIT_DEFINE_ERROR_(Unsupported)
ADIT_DEFINE_ERROR_(ResourceExhausted)
ADIT_DEFINE_ERROR_(FailedPrecondition)
ADIT_DEFINE_ERROR_(Cancelled)
ADIT_DEFINE_ERROR_(DeadlineExceeded)
ADIT_DEFINE_ERROR_(Io)
ADIT_DEFINE_ERROR_(Internal)

#undef ADIT_DEFINE_ERROR_

}  // namespace adit

#endif  // ADIT_BASE_ERROR_H_
