#ifndef ADIT_SERVER_FILE_STORE_H_
#define ADIT_SERVER_FILE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "server/private_folder.h"

namespace adit::server {

// How long a client may have files kept, in seconds.
inline constexpr int64_t kLeastTtlS = 3600;
inline constexpr int64_t kMostTtlS = int64_t{30} * 86400;

struct FileStoreOptions {
  std::string folder;  // empty: one of its own, that goes with the store
  size_t max_bytes = size_t{1} << 30;
  double ttl_s = 30.0 * 86400;  // of files that do not say
};

// A file that a client has sent, or that was made for it.
struct StoredFile {
  std::string id;  // "file-..."
  std::string tenant;
  std::string filename;  // as the client calls it; no path of ours
  std::string purpose;   // "batch", "batch_output"
  size_t bytes = 0;
  int64_t created_s = 0;  // of the time of day
  int64_t expires_s = 0;
  int64_t number = 0;  // later files have higher ones
};

// What a new file is to be.
struct NewFile {
  std::string tenant;
  std::string filename;
  std::string purpose;
  std::optional<int64_t> ttl_s;
};

// Files of tenants, bounded in bytes and age; what is too old goes, and what there is no room for is refused. Survives
// its process where it has a folder. Any thread.
class FileStore {
 public:
  // Takes up what the folder holds from before. Io when it cannot be made or read.
  static Result<std::unique_ptr<FileStore>> Open(const FileStoreOptions& options);

  // ResourceExhausted when there is no room, here or on the disk.
  Result<StoredFile> Add(const NewFile& file, std::string_view content);
  // Adds to the end of a file, all or nothing. Errors as Add; NotFound when it has gone.
  Status Append(const std::string& id, std::string_view content);
  // Cuts a file to its first `bytes`.
  Status Cut(const std::string& id, size_t bytes);

  // Of one tenant; other tenants' files are not there.
  std::optional<StoredFile> Find(const std::string& tenant, const std::string& id);
  std::vector<StoredFile> List(const std::string& tenant);  // the latest first
  bool Delete(const std::string& tenant, const std::string& id);
  // The content of a file; NotFound when it has gone.
  Result<std::string> Read(const std::string& id);

  size_t num_bytes() const;
  const std::string& folder() const { return folder_.path(); }

 private:
  FileStore(const FileStoreOptions& options, PrivateFolder folder) : options_(options), folder_(std::move(folder)) {}
  std::string DataPath(const std::string& id) const { return folder_.path() + "/" + id + ".data"; }
  std::string AboutPath(const std::string& id) const { return folder_.path() + "/" + id + ".json"; }
  Status Scan();
  Status CheckRoom(size_t more) const;
  void Forget(const std::string& id);
  void ForgetOld();

  const FileStoreOptions options_;
  const PrivateFolder folder_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, StoredFile> files_;
  size_t num_bytes_ = 0;
  int64_t next_number_ = 0;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_FILE_STORE_H_
