#include "server/file_store.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "server/disk_file.h"
#include "server/json_fields.h"
#include "server/request_record.h"
#include "server/response_store.h"

namespace adit::server {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kFiles = "files";
constexpr std::string_view kFilePrefix = "file-";

std::string AboutText(const StoredFile& file) {
  const Json json = {{"tenant", file.tenant},        {"filename", file.filename},    {"purpose", file.purpose},
                     {"created_at", file.created_s}, {"expires_at", file.expires_s}, {"number", file.number}};
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// Nothing for what is no such text.
std::optional<StoredFile> ReadAbout(const std::string& id, const std::string& text) {
  const Result<Json> json = ParseJson(text);
  if (!json.ok() || !json->is_object()) return std::nullopt;
  FieldReader fields(*json);
  constexpr int64_t kMax = INT64_MAX;
  StoredFile file{.id = id,
                  .tenant = fields.Text("tenant", 0, SIZE_MAX).value_or(""),
                  .filename = fields.Text("filename", 0, SIZE_MAX).value_or(""),
                  .purpose = fields.Text("purpose", 1, SIZE_MAX).value_or(""),
                  .created_s = fields.Whole("created_at", 0, kMax).value_or(0),
                  .expires_s = fields.Whole("expires_at", 0, kMax).value_or(0),
                  .number = fields.Whole("number", 0, kMax).value_or(0)};
  if (fields.error() || file.purpose.empty()) return std::nullopt;
  return file;
}

}  // namespace

Result<std::unique_ptr<FileStore>> FileStore::Open(const FileStoreOptions& options) {
  ADIT_ASSIGN_OR_RETURN(PrivateFolder folder, PrivateFolder::Make(options.folder, kFiles));
  std::unique_ptr<FileStore> store(new FileStore(options, std::move(folder)));
  ADIT_RETURN_IF_ERROR(store->Scan());
  return store;
}

// A file is there when what tells of it is: its content was written before.
Status FileStore::Scan() {
  std::error_code error;
  std::vector<fs::path> contents;
  const std::lock_guard lock(mutex_);
  for (fs::directory_iterator at(folder_.path(), error), end; !error && at != end; at.increment(error)) {
    const fs::path path = at->path();
    if (path.extension() == kUnfinishedEnding) (void)::unlink(path.c_str());
    if (path.extension() == ".data") contents.push_back(path);
    if (path.extension() != ".json") continue;
    const std::string id = path.stem().string();
    struct stat info = {};
    if (!ResponseStore::IsId(id) || ::stat(DataPath(id).c_str(), &info) != 0) continue;
    const Result<std::string> text = ReadWholeFile(path.string(), kFiles);
    std::optional<StoredFile> file = text.ok() ? ReadAbout(id, *text) : std::nullopt;
    if (!file) continue;
    file->bytes = static_cast<size_t>(info.st_size);
    num_bytes_ += file->bytes;
    next_number_ = std::max(next_number_, file->number + 1);
    files_[id] = *std::move(file);
  }
  if (error) return Io("files: '{}': {}", folder_.path(), error.message());
  for (const fs::path& path : contents) {
    if (!files_.contains(path.stem().string())) (void)::unlink(path.c_str());
  }
  ForgetOld();
  return Status();
}

Status FileStore::CheckRoom(size_t more) const {
  if (num_bytes_ + more <= options_.max_bytes) return Status();
  return ResourceExhausted("files: {} bytes more do not fit: {} of {} are taken", more, num_bytes_, options_.max_bytes);
}

Result<StoredFile> FileStore::Add(const NewFile& wanted, std::string_view content) {
  const std::lock_guard lock(mutex_);
  ForgetOld();
  ADIT_RETURN_IF_ERROR(CheckRoom(content.size()));
  const int64_t now_s = WholeUnixSeconds();
  StoredFile file{.id = std::string(kFilePrefix) + NewRequestId(),
                  .tenant = wanted.tenant,
                  .filename = wanted.filename,
                  .purpose = wanted.purpose,
                  .bytes = content.size(),
                  .created_s = now_s,
                  .expires_s = now_s + wanted.ttl_s.value_or(static_cast<int64_t>(options_.ttl_s)),
                  .number = next_number_++};
  ADIT_RETURN_IF_ERROR(WriteWholeFile(DataPath(file.id), content, kFiles));
  if (Status status = WriteWholeFile(AboutPath(file.id), AboutText(file), kFiles); !status.ok()) {
    (void)::unlink(DataPath(file.id).c_str());
    return status;
  }
  num_bytes_ += file.bytes;
  return files_[file.id] = file;
}

Status FileStore::Append(const std::string& id, std::string_view content) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(id);
  if (found == files_.end()) return NotFound("files: there is no '{}'", id);
  ADIT_RETURN_IF_ERROR(CheckRoom(content.size()));
  ADIT_RETURN_IF_ERROR(AppendToFile(DataPath(id), content, kFiles));
  found->second.bytes += content.size();
  num_bytes_ += content.size();
  return Status();
}

Status FileStore::Cut(const std::string& id, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(id);
  if (found == files_.end()) return NotFound("files: there is no '{}'", id);
  if (bytes >= found->second.bytes) return Status();
  if (::truncate(DataPath(id).c_str(), static_cast<off_t>(bytes)) != 0) {
    return Io("files: '{}' cannot be cut: {}", id, std::strerror(errno));
  }
  num_bytes_ -= found->second.bytes - bytes;
  found->second.bytes = bytes;
  return Status();
}

std::optional<StoredFile> FileStore::Find(const std::string& tenant, const std::string& id) {
  const std::lock_guard lock(mutex_);
  ForgetOld();
  const auto found = files_.find(id);
  if (found == files_.end() || found->second.tenant != tenant) return std::nullopt;
  return found->second;
}

std::vector<StoredFile> FileStore::List(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  ForgetOld();
  std::vector<StoredFile> list;
  for (const auto& [id, file] : files_) {
    if (file.tenant == tenant) list.push_back(file);
  }
  std::sort(list.begin(), list.end(), [](const StoredFile& a, const StoredFile& b) { return a.number > b.number; });
  return list;
}

bool FileStore::Delete(const std::string& tenant, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(id);
  if (found == files_.end() || found->second.tenant != tenant) return false;
  Forget(id);
  return true;
}

Result<std::string> FileStore::Read(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    ForgetOld();
    if (!files_.contains(id)) return NotFound("files: there is no '{}'", id);
  }
  return ReadWholeFile(DataPath(id), kFiles);
}

size_t FileStore::num_bytes() const {
  const std::lock_guard lock(mutex_);
  return num_bytes_;
}

void FileStore::Forget(const std::string& id) {
  (void)::unlink(AboutPath(id).c_str());
  (void)::unlink(DataPath(id).c_str());
  num_bytes_ -= files_.at(id).bytes;
  files_.erase(id);
}

void FileStore::ForgetOld() {
  const int64_t now_s = WholeUnixSeconds();
  std::vector<std::string> old;
  for (const auto& [id, file] : files_) {
    if (file.expires_s <= now_s) old.push_back(id);
  }
  for (const std::string& id : old) Forget(id);
}

}  // namespace adit::server
