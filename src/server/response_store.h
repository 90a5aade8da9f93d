#ifndef ADIT_SERVER_RESPONSE_STORE_H_
#define ADIT_SERVER_RESPONSE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "adit/status.h"
#include "server/private_folder.h"

namespace adit::server {

struct ResponseStoreOptions {
  std::string folder;  // empty: one of its own, that goes with the store
  size_t max_bytes = size_t{256} << 20;
  double ttl_s = 30.0 * 86400;
};

// Texts by id, one file each, bounded in bytes and age: the oldest make room for new ones. A file is whole or not
// there. Any thread.
class ResponseStore {
 public:
  // Takes up what a folder holds from before. Io when it cannot be made or read.
  static Result<std::unique_ptr<ResponseStore>> Open(const ResponseStoreOptions& options);

  // Keeps `text`, in place of what is there under that id. ResourceExhausted when it is larger than all that may be
  // kept, or the disk is full; then what was there stays.
  Status Put(const std::string& id, const std::string& text);
  std::optional<std::string> Get(const std::string& id);
  bool Delete(const std::string& id);

  size_t num_bytes() const;
  size_t num_texts() const;

  // 1 to 128 of A-Z a-z 0-9 _ -: what may be part of a file's name.
  static bool IsId(const std::string& id);

 private:
  struct Entry {
    std::string id;
    size_t bytes = 0;
    double written_s = 0.0;  // of the time of day
  };
  using Entries = std::list<Entry>;  // the oldest first

  ResponseStore(const ResponseStoreOptions& options, PrivateFolder folder)
      : options_(options), folder_(std::move(folder)) {}
  std::string PathOf(const std::string& id) const { return folder_.path() + "/" + id + ".json"; }
  Status Scan();
  void Forget(Entries::iterator entry);
  void ForgetOld();
  void Remember(const std::string& id, size_t bytes, double written_s);

  const ResponseStoreOptions options_;
  const PrivateFolder folder_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> by_id_;
  size_t num_bytes_ = 0;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_RESPONSE_STORE_H_
