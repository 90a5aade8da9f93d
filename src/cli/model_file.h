#ifndef ADIT_CLI_MODEL_FILE_H_
#define ADIT_CLI_MODEL_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "formats/gguf.h"

namespace adit::cli {

// Whether the user meant a file, as against the name of a model.
bool LooksLikePath(std::string_view name);

// Whether `name` is something that can be opened as a model: the path of a file. NotFound, with what this build takes
// and how to get a model, when there is no such thing; InvalidArgument for a folder.
Status CheckModelPath(const std::string& name);

// Errors of what is inside a model's file. A key or tensor that is not found there makes the file corrupt; it does not
// make the model absent.
Status InsideModel(const Status& status);

// The open file. Errors as CheckModelPath and GgufFile::Open.
Result<std::unique_ptr<formats::GgufFile>> OpenModel(const std::string& name);

}  // namespace adit::cli

#endif  // ADIT_CLI_MODEL_FILE_H_
