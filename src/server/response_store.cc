#include "server/response_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "server/disk_file.h"

namespace adit::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json";
constexpr std::string_view kResponses = "responses";

}  // namespace

bool ResponseStore::IsId(const std::string& id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<std::unique_ptr<ResponseStore>> ResponseStore::Open(const ResponseStoreOptions& options) {
  ADIT_ASSIGN_OR_RETURN(PrivateFolder folder, PrivateFolder::Make(options.folder, kResponses));
  std::unique_ptr<ResponseStore> store(new ResponseStore(options, std::move(folder)));
  ADIT_RETURN_IF_ERROR(store->Scan());
  return store;
}

Status ResponseStore::Scan() {
  std::error_code error;
  std::vector<Entry> found;
  for (fs::directory_iterator at(folder_.path(), error), end; !error && at != end; at.increment(error)) {
    const fs::path path = at->path();
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    // Of a server that ended while it wrote.
    if (path.extension() == kUnfinishedEnding) (void)::unlink(path.c_str());
    if (path.extension() != kEnding || !IsId(path.stem().string())) continue;
    found.push_back({.id = path.stem().string(),
                     .bytes = static_cast<size_t>(info.st_size),
                     .written_s = static_cast<double>(info.st_mtim.tv_sec) + info.st_mtim.tv_nsec * 1e-9});
  }
  if (error) return Io("responses: '{}': {}", folder_.path(), error.message());
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.written_s < b.written_s; });
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : found) Remember(entry.id, entry.bytes, entry.written_s);
  ForgetOld();
  while (num_bytes_ > options_.max_bytes) Forget(entries_.begin());
  return Status();
}

Status ResponseStore::Put(const std::string& id, const std::string& text) {
  if (!IsId(id)) return InvalidArgument("'{}' is no id of a response", id);
  if (text.size() > options_.max_bytes) {
    return ResourceExhausted("a response of {} bytes is larger than all that may be kept, {} bytes", text.size(),
                             options_.max_bytes);
  }
  const std::lock_guard lock(mutex_);
  ForgetOld();
  const auto found = by_id_.find(id);
  const size_t present = found == by_id_.end() ? 0 : found->second->bytes;
  // Older ones make room, and the one that is replaced stays until its successor is there.
  for (auto at = entries_.begin(); num_bytes_ - present + text.size() > options_.max_bytes;) {
    const auto next = std::next(at);
    if (at->id != id) Forget(at);
    at = next;
  }
  ADIT_RETURN_IF_ERROR(WriteWholeFile(PathOf(id), text, kResponses));
  if (const auto old = by_id_.find(id); old != by_id_.end()) {
    num_bytes_ -= old->second->bytes;
    entries_.erase(old->second);
    by_id_.erase(old);
  }
  Remember(id, text.size(), UnixSeconds());
  return Status();
}

std::optional<std::string> ResponseStore::Get(const std::string& id) {
  const std::lock_guard lock(mutex_);
  ForgetOld();
  if (!by_id_.contains(id)) return std::nullopt;
  Result<std::string> text = ReadWholeFile(PathOf(id), kResponses);
  if (!text.ok()) return std::nullopt;
  return *std::move(text);
}

bool ResponseStore::Delete(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  Forget(found->second);
  return true;
}

size_t ResponseStore::num_bytes() const {
  const std::lock_guard lock(mutex_);
  return num_bytes_;
}

size_t ResponseStore::num_texts() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void ResponseStore::Remember(const std::string& id, size_t bytes, double written_s) {
  by_id_[id] = entries_.insert(entries_.end(), {.id = id, .bytes = bytes, .written_s = written_s});
  num_bytes_ += bytes;
}

void ResponseStore::Forget(Entries::iterator entry) {
  (void)::unlink(PathOf(entry->id).c_str());
  num_bytes_ -= entry->bytes;
  by_id_.erase(entry->id);
  entries_.erase(entry);
}

void ResponseStore::ForgetOld() {
  const double oldest_s = UnixSeconds() - options_.ttl_s;
  while (!entries_.empty() && entries_.front().written_s < oldest_s) Forget(entries_.begin());
}

}  // namespace adit::server
