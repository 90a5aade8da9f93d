#ifndef ADIT_CLI_BATCH_UNSUPPORTED_H_
#define ADIT_CLI_BATCH_UNSUPPORTED_H_

#include "cli/batch_fields.h"

namespace adit::cli {

// Fails for a field that clients of this interface know and this build does not support, unless it has the value that
// asks for nothing.
void RefuseUnsupported(FieldReader& reader);

}  // namespace adit::cli

#endif  // ADIT_CLI_BATCH_UNSUPPORTED_H_
