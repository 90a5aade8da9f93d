#ifndef ADIT_CLI_RESOLVE_MODEL_H_
#define ADIT_CLI_RESOLVE_MODEL_H_

#include <string>

#include "adit/status.h"
#include "cli/options.h"

namespace adit::cli {

// The path that a MODEL argument stands for: itself where it is one, else that of the model of the store with this
// name. What can be no name of a model stays as it is, for whoever opens it to tell. NotFound, with what there is, for
// a name that the store does not know.
Result<std::string> ResolveModel(const std::string& name);

// Puts paths in the place of all names of models that a command has, but serve's, whose clients use the names.
Status ResolveModels(Command& command);

}  // namespace adit::cli

#endif  // ADIT_CLI_RESOLVE_MODEL_H_
