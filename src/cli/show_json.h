#ifndef ADIT_CLI_SHOW_JSON_H_
#define ADIT_CLI_SHOW_JSON_H_

#include <string>

#include "cli/model_summary.h"
#include "formats/gguf.h"

namespace adit::cli {

// All that `adit show` knows as one JSON object, indented, with a line end: docs/cli.md lists its members. Arrays of
// the metadata that are long are cut unless whole_arrays is set.
std::string ModelJson(const formats::GgufFile& file, const ModelSummary& summary, bool whole_arrays);

}  // namespace adit::cli

#endif  // ADIT_CLI_SHOW_JSON_H_
