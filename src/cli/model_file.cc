#include "cli/model_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "engine/runnable.h"

namespace adit::cli {
namespace {

constexpr std::string_view kWhatModelsAre =
    "MODEL is the path of a .gguf file or of a Hugging Face folder, or the name of a model that 'adit pull' has "
    "fetched; "
    "scripts/get-model downloads small ones into models/";

}  // namespace

bool LooksLikePath(std::string_view name) {
  return name.ends_with(".gguf") || name.starts_with('/') || name.starts_with('.') || name.starts_with('~');
}

Status CheckModelPath(const std::string& name) {
  struct stat info = {};
  if (::stat(name.c_str(), &info) == 0) {
    if (!S_ISDIR(info.st_mode) || ::access((name + "/config.json").c_str(), F_OK) == 0) return Status();
    return InvalidArgument("model '{}' is a folder without a config.json; {}", name, kWhatModelsAre);
  }
  if (errno != ENOENT && errno != ENOTDIR) return Io("model '{}': {}", name, std::strerror(errno));
  if (LooksLikePath(name)) return NotFound("model '{}' not found: no such file; {}", name, kWhatModelsAre);
  return NotFound("model '{}' not found: there is no such file and no such model in the store; {}", name,
                  kWhatModelsAre);
}

Status InsideModel(const Status& status) {
  if (status.code() != StatusCode::kNotFound) return status;
  return Status(StatusCode::kCorrupt, status.message());
}

Result<std::unique_ptr<formats::GgufFile>> OpenModel(const std::string& name) {
  ADIT_RETURN_IF_ERROR(CheckModelPath(name));
  return engine::OpenModelFiles(name);
}

}  // namespace adit::cli
