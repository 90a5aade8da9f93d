#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/error.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/quoted.h"
#include "formats/safetensors.h"

namespace adit::formats {
namespace {

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";
constexpr JsonLimits kIndexLimits{.max_bytes = size_t{64} << 20, .max_depth = 8};
// A model of a trillion parameters comes in some hundreds of files.
constexpr size_t kMaxFiles = 4096;

// A name of the index stays in its folder.
bool IsPlainFileName(std::string_view name) {
  return name.ends_with(".safetensors") && name.size() <= 255 && IsPrintableAscii(name) &&
         name.find('/') == std::string_view::npos && !name.starts_with('.');
}

// The index's file for each tensor.
Result<Json> ReadIndex(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(Json index, Json::ReadFile(path, kIndexLimits));
  const Json* map = index.Find("weight_map");
  if (map == nullptr || map->AsObject() == nullptr) return Corrupt("{}: weight_map is missing or no object", path);
  for (const auto& [tensor, file] : *map->AsObject()) {
    if (file.AsString() == nullptr || !IsPlainFileName(*file.AsString())) {
      return Corrupt("{}: weight_map: {} is {}, wanted the name of a .safetensors file of the same folder", path,
                     Quoted(tensor),
                     file.AsString() == nullptr ? std::string(file.KindName()) : Quoted(*file.AsString()));
    }
  }
  return Json(*map);
}

std::string_view NameOf(const SafetensorsFile& file) {
  const std::string_view path = file.path();
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Status SafetensorsFolder::Index() {
  for (const SafetensorsFile& file : files_) {
    for (const SafetensorsTensor& tensor : file.tensors()) {
      const auto [entry, is_new] = places_.try_emplace(tensor.name, Place{&file, &tensor});
      if (is_new) continue;
      return Corrupt("safetensors: tensor {} is both in {} and in {}", Quoted(tensor.name), entry->second.file->path(),
                     file.path());
    }
  }
  return Status();
}

Result<SafetensorsFolder> SafetensorsFolder::Open(const std::string& folder) {
  SafetensorsFolder result;
  const std::string index_path = fmt::format("{}/{}", folder, kIndexFile);
  if (!FileExists(index_path)) {
    const std::string path = fmt::format("{}/{}", folder, kSingleFile);
    if (!FileExists(path)) return NotFound("{}: no {} and no {} in this folder", folder, kSingleFile, kIndexFile);
    ADIT_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::Open(path));
    result.files_.push_back(std::move(file));
    ADIT_RETURN_IF_ERROR(result.Index());
    return result;
  }
  ADIT_ASSIGN_OR_RETURN(const Json map, ReadIndex(index_path));
  std::set<std::string_view> names;
  for (const auto& [tensor, file] : *map.AsObject()) names.insert(*file.AsString());
  if (names.size() > kMaxFiles) {
    return ResourceExhausted("{}: {} files, the limit is {}", index_path, names.size(), kMaxFiles);
  }
  for (const std::string_view name : names) {
    ADIT_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::Open(fmt::format("{}/{}", folder, name)));
    result.files_.push_back(std::move(file));
  }
  ADIT_RETURN_IF_ERROR(result.Index());
  for (const auto& [tensor, file] : *map.AsObject()) {
    const Place place = result.Find(tensor);
    if (place.file != nullptr && NameOf(*place.file) == *file.AsString()) continue;
    return Corrupt("{}: tensor {} is not in {}", index_path, Quoted(tensor), *file.AsString());
  }
  return result;
}

SafetensorsFolder::Place SafetensorsFolder::Find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? Place{} : found->second;
}

size_t SafetensorsFolder::size_bytes() const {
  size_t total = 0;
  for (const SafetensorsFile& file : files_) total += file.size_bytes();
  return total;
}

}  // namespace adit::formats
