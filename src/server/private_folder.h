#ifndef ADIT_SERVER_PRIVATE_FOLDER_H_
#define ADIT_SERVER_PRIVATE_FOLDER_H_

#include <string>
#include <string_view>
#include <utility>

#include "adit/status.h"

namespace adit::server {

// A folder that other users of the machine cannot look into: one that was named, which stays, or a temporary one, which
// goes with this. A server that is killed leaves its own behind: it holds a lock on it (flock) while it lives, and who
// makes one of the same kind removes those of the same user that nobody holds.
class PrivateFolder {
 public:
  // Makes `path`, and what it lies in, where it is not there. An empty path: a temporary one, whose name begins with
  // "adit-" and `what`, as "responses". Io when it cannot be made.
  static Result<PrivateFolder> Make(const std::string& path, std::string_view what);

  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, kNotTemporary)) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

 private:
  static constexpr int kNotTemporary = -1;

  PrivateFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;  // the temporary folder itself, opened
};

}  // namespace adit::server

#endif  // ADIT_SERVER_PRIVATE_FOLDER_H_
