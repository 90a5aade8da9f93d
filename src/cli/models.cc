// adit list, rm and cp: what is in the store of models.
#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/units.h"
#include "hub/model_store.h"

namespace adit::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// How another name tells of a model: with its commit, so that a newer one does not take its place.
std::string TargetOf(const hub::StoredModel& model) { return fmt::format("{}@{}", model.name(), model.commit); }

std::string DayOf(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  if (::localtime_r(&time, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::vector<std::string> NamesOf(const hub::StoredModel& model, const std::map<std::string, std::string>& aliases) {
  std::vector<std::string> names;
  for (const auto& [name, target] : aliases) {
    if (target == TargetOf(model)) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<int> Run(const ListOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const hub::ModelStore store, hub::ModelStore::OfUser());
  ADIT_ASSIGN_OR_RETURN(const std::vector<hub::StoredModel> models, store.List());
  ADIT_ASSIGN_OR_RETURN(const auto aliases, store.Aliases());
  OrderedJson told = OrderedJson::array();
  std::vector<std::vector<std::string>> rows = {{"NAME", "SIZE", "FETCHED", "REVISION", "OTHER NAMES"}};
  for (const hub::StoredModel& model : models) {
    const std::vector<std::string> names = NamesOf(model, aliases);
    told.push_back({{"name", model.name()},
                    {"repository", model.ref.repository},
                    {"quant", model.ref.quant},
                    {"revision", model.ref.revision},
                    {"commit", model.commit},
                    {"path", store.PathOf(model)},
                    {"size_bytes", model.size_bytes()},
                    {"pulled_s", model.pulled_s},
                    {"aliases", names}});
    rows.push_back({model.name(), FormatBytes(model.size_bytes()), DayOf(model.pulled_s),
                    fmt::format("{} ({})", model.ref.revision, model.commit.substr(0, 8)),
                    fmt::format("{}", fmt::join(names, ", "))});
  }
  for (const auto& [name, target] : aliases) {
    if (target.starts_with('/')) rows.push_back({name, "", "", "", target});
  }
  if (options.json) {
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(
        OrderedJson{{"folder", store.folder()}, {"models", told}, {"aliases", aliases}}.dump(1) + "\n"));
  } else if (rows.size() > 1) {
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(Columns(rows)));
  } else {
    PrintNote(fmt::format("no models in {}; 'adit pull org/name[:quant]' fetches one", store.folder()));
  }
  return kExitOk;
}

Result<int> Run(const RemoveOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const hub::ModelStore store, hub::ModelStore::OfUser());
  int64_t freed = 0;
  for (const std::string& name : options.names) {
    ADIT_ASSIGN_OR_RETURN(const int64_t bytes, store.Remove(name));
    freed += bytes;
  }
  ADIT_RETURN_IF_ERROR(Stdout().WriteText(options.json ? OrderedJson{{"freed_bytes", freed}}.dump() + "\n"
                                                       : fmt::format("{} freed\n", FormatBytes(freed))));
  return kExitOk;
}

Result<int> Run(const CopyOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const hub::ModelStore store, hub::ModelStore::OfUser());
  std::string target;
  struct stat info = {};
  if (::stat(options.model.c_str(), &info) == 0 || LooksLikePath(options.model)) {
    ADIT_RETURN_IF_ERROR(CheckModelPath(options.model));
    target = std::filesystem::absolute(options.model).lexically_normal().string();
  } else {
    ADIT_ASSIGN_OR_RETURN(const hub::StoredModel model, store.Find(options.model));
    target = TargetOf(model);
  }
  ADIT_RETURN_IF_ERROR(store.SetAlias(options.name, target));
  ADIT_RETURN_IF_ERROR(Stdout().WriteText(options.json
                                              ? OrderedJson{{"name", options.name}, {"target", target}}.dump() + "\n"
                                              : fmt::format("{} is {}\n", options.name, target)));
  return kExitOk;
}

}  // namespace adit::cli
