#include "cli/resolve_model.h"

#include <sys/stat.h>

#include <concepts>
#include <type_traits>
#include <variant>

#include "base/error.h"
#include "cli/model_file.h"
#include "hub/model_ref.h"
#include "hub/model_store.h"

namespace adit::cli {
namespace {

bool MayBeName(const std::string& name) {
  const bool is_short = name.find('/') == std::string::npos;
  return hub::ParseModelRef(is_short ? "any/" + name : name).ok();
}

template <typename Options>
constexpr bool kNamesModel = requires(Options options) {
  { options.model } -> std::same_as<std::string&>;
};

Status ResolveIn(std::string& name) {
  ADIT_ASSIGN_OR_RETURN(name, ResolveModel(name));
  return Status();
}

}  // namespace

Result<std::string> ResolveModel(const std::string& name) {
  struct stat info = {};
  if (::stat(name.c_str(), &info) == 0 || LooksLikePath(name) || !MayBeName(name)) return name;
  const Result<hub::ModelStore> store = hub::ModelStore::OfUser();
  // Without a place for models there are none, and the name is not found below.
  if (!store.ok()) return name;
  Result<std::string> path = store->Resolve(name);
  if (path.status().code() == StatusCode::kNotFound) {
    return NotFound("model '{}' not found: no such file, and {}", name, path.status().message());
  }
  return path;
}

Status ResolveModels(Command& command) {
  return std::visit(
      [](auto& options) -> Status {
        using Options = std::remove_cvref_t<decltype(options)>;
        if constexpr (std::is_same_v<Options, ServeOptions> || std::is_same_v<Options, StopOptions> ||
                      std::is_same_v<Options, PullOptions> || std::is_same_v<Options, RemoveOptions> ||
                      std::is_same_v<Options, CopyOptions>) {
          return Status();
        } else if constexpr (kNamesModel<Options>) {
          return ResolveIn(options.model);
        } else if constexpr (std::is_same_v<Options, TemplateOptions>) {
          const bool is_template = options.source == "-" || options.source.ends_with(".jinja");
          return is_template ? Status() : ResolveIn(options.source);
        } else {
          return Status();
        }
      },
      command);
}

}  // namespace adit::cli
