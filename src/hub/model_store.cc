#include "hub/model_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "base/env.h"
#include "base/error.h"
#include "formats/atomic_file.h"
#include "formats/json.h"

namespace adit::hub {
namespace {

namespace fs = std::filesystem;
using formats::Json;

constexpr size_t kCommitBytes = 40;
constexpr size_t kShortestCommit = 7;  // digits that tell one
constexpr size_t kMaxListed = 10;
constexpr const char* kAliases = "aliases.json";

std::string StringOf(const Json* json) {
  const std::string* text = json == nullptr ? nullptr : json->AsString();
  return text == nullptr ? std::string() : *text;
}

int64_t NumberOf(const Json* json) {
  const int64_t* number = json == nullptr ? nullptr : json->AsInt();
  return number == nullptr ? 0 : *number;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// Folders below `path`, by name; none where it is not there.
std::vector<fs::path> Below(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

Status WriteJson(const std::string& path, const nlohmann::ordered_json& json) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return Io("'{}': {}", path, error.message());
  ADIT_ASSIGN_OR_RETURN(formats::AtomicFile file, formats::AtomicFile::Create(path, "models"));
  const std::string text = json.dump(1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) + "\n";
  ADIT_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Finish();
}

Result<StoredModel> ReadModel(const Json& entry, const std::string& repository, const std::string& commit) {
  StoredModel model{.ref = {.repository = repository,
                            .quant = StringOf(entry.Find("quant")),
                            .revision = StringOf(entry.Find("revision"))},
                    .commit = commit,
                    .open = StringOf(entry.Find("open")),
                    .files = {},
                    .pulled_s = NumberOf(entry.Find("pulled_s"))};
  const Json* files = entry.Find("files");
  bool is_right = files != nullptr && files->AsArray() != nullptr && (model.open.empty() || IsSafePath(model.open));
  if (is_right) {
    for (const Json& file : *files->AsArray()) {
      model.files.push_back({.path = StringOf(file.Find("path")), .size_bytes = NumberOf(file.Find("size_bytes"))});
      is_right = is_right && IsSafePath(model.files.back().path);
    }
  }
  if (!is_right) return Corrupt("what is written of '{}' makes no sense", repository);
  return model;
}

bool Fits(const StoredModel& model, const ModelRef& wanted) {
  if (!wanted.quant.empty() && !EqualsIgnoringCase(wanted.quant, model.ref.quant)) return false;
  if (wanted.revision.empty() || wanted.revision == model.ref.revision) return true;
  return wanted.revision.size() >= kShortestCommit && model.commit.starts_with(wanted.revision);
}

}  // namespace

std::string StoredModel::name() const {
  return ref.quant.empty() ? ref.repository : fmt::format("{}:{}", ref.repository, ref.quant);
}

int64_t StoredModel::size_bytes() const {
  int64_t total = 0;
  for (const StoredFile& file : files) total += file.size_bytes;
  return total;
}

Result<ModelStore> ModelStore::OfUser() {
  const std::optional<std::string> folder = env::ModelFolder();
  if (!folder) return FailedPrecondition("there is no place for models: neither ADIT_MODELS nor HOME is set");
  return ModelStore(*folder);
}

std::string ModelStore::FolderOf(const std::string& repository, const std::string& commit) const {
  return fmt::format("{}/{}/{}", folder_, repository, commit);
}

std::string ModelStore::DescriptionPath(const std::string& repository, const std::string& commit) const {
  return FolderOf(repository, commit) + ".json";
}

std::string ModelStore::PathOf(const StoredModel& model) const {
  const std::string folder = FolderOf(model.ref.repository, model.commit);
  return model.open.empty() ? folder : folder + "/" + model.open;
}

Result<std::vector<StoredModel>> ModelStore::ReadDescription(const std::string& path) const {
  ADIT_ASSIGN_OR_RETURN(const Json root, Json::ReadFile(path));
  const fs::path place = fs::path(path).parent_path();
  const std::string repository = place.parent_path().filename().string() + "/" + place.filename().string();
  const Json* entries = root.Find("models");
  if (entries == nullptr || entries->AsArray() == nullptr) return Corrupt("'{}' describes no models", path);
  std::vector<StoredModel> models;
  for (const Json& entry : *entries->AsArray()) {
    ADIT_ASSIGN_OR_RETURN(StoredModel model, ReadModel(entry, repository, fs::path(path).stem().string()));
    models.push_back(std::move(model));
  }
  return models;
}

Result<std::vector<StoredModel>> ModelStore::List() const {
  std::vector<StoredModel> models;
  for (const fs::path& organisation : Below(folder_)) {
    for (const fs::path& repository : Below(organisation)) {
      for (const fs::path& file : Below(repository)) {
        if (file.extension() != ".json" || file.stem().string().size() != kCommitBytes) continue;
        ADIT_ASSIGN_OR_RETURN(std::vector<StoredModel> found, ReadDescription(file.string()));
        models.insert(models.end(), found.begin(), found.end());
      }
    }
  }
  std::stable_sort(models.begin(), models.end(), [](const StoredModel& a, const StoredModel& b) {
    return a.name() != b.name() ? a.name() < b.name() : a.pulled_s > b.pulled_s;
  });
  return models;
}

Result<std::map<std::string, std::string>> ModelStore::Aliases() const {
  const std::string path = folder_ + "/" + kAliases;
  std::map<std::string, std::string> aliases;
  std::error_code error;
  if (!fs::exists(path, error)) return aliases;
  ADIT_ASSIGN_OR_RETURN(const Json root, Json::ReadFile(path));
  const Json::Object* members = root.AsObject();
  if (members == nullptr) return Corrupt("'{}' is no JSON object", path);
  for (const auto& [name, target] : *members) aliases[name] = StringOf(&target);
  return aliases;
}

Status ModelStore::WriteAliases(const std::map<std::string, std::string>& aliases) const {
  return WriteJson(folder_ + "/" + kAliases, nlohmann::ordered_json(aliases));
}

Result<StoredModel> ModelStore::Find(const std::string& name) const {
  ADIT_ASSIGN_OR_RETURN(const auto aliases, Aliases());
  const auto alias = aliases.find(name);
  const std::string& wanted = alias == aliases.end() ? name : alias->second;
  // Without an organisation: as if it were one.
  const bool is_short = wanted.find('/') == std::string::npos;
  ADIT_ASSIGN_OR_RETURN(const ModelRef ref, ParseModelRef(is_short ? "any/" + wanted : wanted));
  ADIT_ASSIGN_OR_RETURN(const std::vector<StoredModel> models, List());
  const StoredModel* best = nullptr;
  std::set<std::string> repositories;
  for (const StoredModel& model : models) {
    const std::string& repository = model.ref.repository;
    const size_t slash = is_short ? repository.find('/') + 1 : 0;
    const std::string_view sought = std::string_view(ref.repository).substr(is_short ? 4 : 0);
    if (!EqualsIgnoringCase(std::string_view(repository).substr(slash), sought) || !Fits(model, ref)) continue;
    repositories.insert(repository);
    if (best == nullptr || model.pulled_s > best->pulled_s) best = &model;
  }
  if (repositories.size() > 1) {
    return InvalidArgument("'{}' may be {} or {}; say which", name, *repositories.begin(), *repositories.rbegin());
  }
  if (best != nullptr) return *best;
  std::string list;
  for (size_t i = 0; i < models.size() && i < kMaxListed; ++i) list += (i == 0 ? "" : ", ") + models[i].name();
  return NotFound("there is no model '{}' in {}; {}; 'adit pull org/name[:quant]' fetches one", name, folder_,
                  models.empty() ? "none is there" : fmt::format("there are: {}", list));
}

Result<std::string> ModelStore::Resolve(const std::string& name) const {
  ADIT_ASSIGN_OR_RETURN(const auto aliases, Aliases());
  const auto alias = aliases.find(name);
  if (alias != aliases.end() && alias->second.starts_with('/')) return alias->second;
  ADIT_ASSIGN_OR_RETURN(const StoredModel model, Find(name));
  return PathOf(model);
}

Status ModelStore::WriteDescription(const std::string& repository, const std::string& commit,
                                    const std::vector<StoredModel>& models) const {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const StoredModel& model : models) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const StoredFile& file : model.files) files.push_back({{"path", file.path}, {"size_bytes", file.size_bytes}});
    entries.push_back({{"quant", model.ref.quant},
                       {"revision", model.ref.revision},
                       {"open", model.open},
                       {"pulled_s", model.pulled_s},
                       {"files", std::move(files)}});
  }
  return WriteJson(DescriptionPath(repository, commit),
                   {{"repository", repository}, {"commit", commit}, {"models", std::move(entries)}});
}

Status ModelStore::Add(const StoredModel& model) const {
  const std::string path = DescriptionPath(model.ref.repository, model.commit);
  std::vector<StoredModel> models;
  std::error_code error;
  if (fs::exists(path, error)) {
    ADIT_ASSIGN_OR_RETURN(models, ReadDescription(path));
  }
  std::erase_if(models, [&](const StoredModel& other) { return other.ref.quant == model.ref.quant; });
  models.push_back(model);
  return WriteDescription(model.ref.repository, model.commit, models);
}

Result<int64_t> ModelStore::RemoveUnfinished(const std::string& repository) const {
  int64_t freed = 0;
  for (const fs::path& folder : Below(folder_ + "/" + repository)) {
    std::error_code error;
    if (!fs::is_directory(folder, error) || fs::exists(folder.string() + ".json", error)) continue;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (at->is_regular_file(error)) freed += static_cast<int64_t>(at->file_size(error));
    }
    fs::remove_all(folder, error);
    if (error) return Io("'{}': {}", folder.string(), error.message());
  }
  return freed;
}

Result<int64_t> ModelStore::Remove(const std::string& name) const {
  ADIT_ASSIGN_OR_RETURN(auto aliases, Aliases());
  if (aliases.erase(name) > 0) {
    ADIT_RETURN_IF_ERROR(WriteAliases(aliases));
    return 0;
  }
  const Result<StoredModel> found = Find(name);
  if (!found.ok()) {
    const Result<ModelRef> ref = ParseModelRef(name);
    const Result<int64_t> freed = ref.ok() ? RemoveUnfinished(ref->repository) : Result<int64_t>(0);
    if (!freed.ok() || *freed > 0) return freed;
    return found.status();
  }
  const std::string folder = FolderOf(found->ref.repository, found->commit);
  ADIT_ASSIGN_OR_RETURN(std::vector<StoredModel> models,
                        ReadDescription(DescriptionPath(found->ref.repository, found->commit)));
  std::erase_if(models, [&](const StoredModel& other) { return other.ref.quant == found->ref.quant; });
  std::set<std::string> needed;
  for (const StoredModel& other : models) {
    for (const StoredFile& file : other.files) needed.insert(file.path);
  }
  // First it is not told of any more: a file that cannot be removed is no model.
  std::error_code error;
  if (models.empty()) {
    fs::remove(folder + ".json", error);
  } else {
    ADIT_RETURN_IF_ERROR(WriteDescription(found->ref.repository, found->commit, models));
  }
  int64_t freed = 0;
  for (const StoredFile& file : found->files) {
    if (needed.contains(file.path)) continue;
    if (fs::remove(folder + "/" + file.path, error)) freed += file.size_bytes;
    if (error) return Io("'{}/{}': {}", folder, file.path, error.message());
  }
  if (models.empty()) fs::remove_all(folder, error);
  // Folders that hold nothing any more; those that do stay.
  const fs::path repository = fs::path(folder).parent_path();
  if (Below(repository).size() <= 1) fs::remove(repository / ".lock", error);
  fs::remove(repository, error);
  fs::remove(repository.parent_path(), error);
  return freed;
}

Status ModelStore::SetAlias(const std::string& alias, const std::string& target) const {
  if (!IsPlainName(alias)) {
    return InvalidArgument("'{}' cannot be a name: wanted letters, digits and ._-", alias.substr(0, 200));
  }
  ADIT_ASSIGN_OR_RETURN(auto aliases, Aliases());
  aliases[alias] = target;
  return WriteAliases(aliases);
}

}  // namespace adit::hub
