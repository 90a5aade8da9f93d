#ifndef ADIT_CLI_SERVE_MODELS_H_
#define ADIT_CLI_SERVE_MODELS_H_

#include <memory>
#include <string>
#include <vector>

#include "adit/status.h"
#include "cli/options.h"
#include "sched/options.h"
#include "server/access_log.h"
#include "server/model_pool.h"

namespace adit::cli {

// The models of adit serve.
struct ServedEntries {
  std::vector<server::ModelEntry> entries;  // in the order of the command line
  std::vector<std::string> texts;           // of each entry: MODEL as it was written
};

// Finds the models and gives them their names. NotFound for a model that is not there, InvalidArgument for flags that
// do not go together.
Result<ServedEntries> EntriesOf(const ServeOptions& options);

// What loads them, and fetches others. `options` and `log` outlive it.
std::unique_ptr<server::ModelSource> MakeModelSource(const ServeOptions& options, std::string chat_template,
                                                     std::vector<sched::Tenant> tenants, server::AccessLog& log);

}  // namespace adit::cli

#endif  // ADIT_CLI_SERVE_MODELS_H_
